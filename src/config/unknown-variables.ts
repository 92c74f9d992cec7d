import { distance } from 'fastest-levenshtein';
import type { Environment } from './variables.ts';

/**
 * Describes variables that are set and unknown, but similar to ours: `BANK_DATA_APIKEY (BANK_DATA_API_KEY?)`. Contains no
 * values.
 */
export function findUnknownVariables(known: readonly string[], env: Environment): string[] {
  const isKnown = new Set(known);
  const prefixes = new Set(known.flatMap((name) => /^[A-Z]{3,}_/.exec(name) ?? []));
  for (const common of commonPrefixes) prefixes.delete(common);
  return Object.entries(env).flatMap(([name, value]) => {
    if (!value || isKnown.has(name) || isOfKubernetes(name, value)) return [];
    const likely = findLikelyName(known, name);
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

function findLikelyName(known: readonly string[], name: string): string | null {
  const plain = toPlain(name.replace(/^(LEDGERQUILL|GATEWAY)_/, ''));
  const candidates = known.map((candidate) => ({ candidate, edits: distance(toPlain(candidate), plain) }));
  const [nearest] = candidates.toSorted((a, b) => a.edits - b.edits);
  // HOST and HOME are different words.
  const maxEdits = Math.min(2, Math.floor(plain.length / 5));
  return nearest && nearest.edits <= maxEdits ? nearest.candidate : null;
}

function toPlain(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z\d]/g, '');
}
