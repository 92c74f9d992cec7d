import { distance } from 'fastest-levenshtein';
import type { Environment } from './variables.ts';

/**
 * Describes variables that are set and unknown, but similar to ours: `BANK_DATA_APIKEY (BANK_DATA_API_KEY?)`. Contains no
 * values.
 */
export function findUnknownVariables(known: readonly string[], env: Environment): string[] {
  const isKnown = new Set(known);
  const knownNames = known.map((name) => ({ name, plain: toPlain(name) }));
  const prefixes = new Set(known.flatMap((name) => /^[A-Z]{3,}_/.exec(name) ?? []));
  for (const common of commonPrefixes) prefixes.delete(common);
  return Object.entries(env).flatMap(([name, value]) => {
    if (!value || isKnown.has(name) || isOfKubernetes(name, value)) return [];
    const likely = findLikelyName(knownNames, name);
    if (likely !== null) return [`${name} (${likely}?)`];
    return [...prefixes, ...ownPrefixes].some((prefix) => name.startsWith(prefix)) ? [name] : [];
  });
}

const ownPrefixes = ['LEDGERQUILL_', 'BANK_DATA', 'ESSAY', 'TRUSTED_DOCUMENT'];
/** Other programs have such variables, too. */
const commonPrefixes = [
  'LOG_',
  'MAX_',
  'REDIS_',
  'DATA_',
  'CACHE_',
  'CLIENT_',
  'STORE_',
  'ALLOWED_',
  'METRICS_',
  'OTEL_',
];
/** Kubernetes sets variables for each service of the namespace. */
function isOfKubernetes(name: string, value: string): boolean {
  return /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/.test(name) || /^(tcp|udp|sctp):/.test(value);
}

interface KnownName {
  name: string;
  plain: string;
}

function findLikelyName(known: readonly KnownName[], name: string): string | null {
  const plain = toPlain(name.replace(/^(LEDGERQUILL|GATEWAY)_/, ''));
  // HOST and HOME are different words.
  const maxEdits = Math.min(2, Math.floor(plain.length / 5));
  const candidates = known
    .filter((candidate) => Math.abs(candidate.plain.length - plain.length) <= maxEdits)
    .map((candidate) => ({ name: candidate.name, edits: distance(candidate.plain, plain) }));
  const [nearest] = candidates.toSorted((a, b) => a.edits - b.edits);
  return nearest && nearest.edits <= maxEdits ? nearest.name : null;
}

function toPlain(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z\d]/g, '');
}
