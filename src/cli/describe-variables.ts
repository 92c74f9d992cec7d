import { distance } from 'fastest-levenshtein';
import type * as z from 'zod';
import { inFiles } from '../base/variables/parsers.ts';
import type { Environment } from '../base/variables/read-variables.ts';
import { createQuote } from '../base/variables/read-variables.ts';
import type { Config } from '../gateway/config/read-config.ts';
import { describeAddresses } from '../gateway/config/redis-url.ts';
import { gatewayVariables, knownVariables } from '../gateway/config/variables.ts';

/**
 * Every variable of the gateway with the value that is used, and where that comes from. The value is masked if it is a secret, and
 * empty if the variable is not set and has no default.
 */
export function listValues(config: Config, env: Environment, dotenvNames: ReadonlySet<string>) {
  const shape: Readonly<Record<string, z.ZodType>> = gatewayVariables;
  const quote = createQuote(gatewayVariables, env);
  const derived = describeDerivedDefaults(config);
  return Object.entries(shape).map(([name, type]) => {
    const masked = name === 'REDIS_URL' ? maskRedisUrl(config) : mask;
    const given = env[name]?.trim();
    if (given) {
      const source = dotenvNames.has(name) ? '.env' : 'environment';
      return { name, value: quote(name) === null ? masked : given, source };
    }
    const file = inFiles.has(type) && env[`${name}_FILE`]?.trim();
    if (file) return { name, value: masked, source: `file ${file}` };
    return { name, value: derived[name] ?? describeDefault(type.safeParse(undefined).data), source: 'default' };
  });
}

const mask = '********';

/** The defaults that depend on other variables. */
function describeDerivedDefaults({ access, ...config }: Config): Readonly<Record<string, string>> {
  return {
    METRICS_HOST: config.metrics?.host ?? '',
    SHUTDOWN_DELAY_MS: String(config.shutdownDelayMs),
    SHUTDOWN_TIMEOUT_MS: String(config.shutdownTimeoutMs),
    ALLOWED_HOSTS: config.allowedHosts.join(','),
    ANONYMOUS_SCOPES: access.anonymousScopes?.join('+') ?? '',
    ROUTER_SCOPES: 'bank-data+essays',
    INTROSPECTION: describeDefault(access.commonScopes.includes('introspection')),
    GRAPHIQL: describeDefault(access.commonScopes.includes('graphiql')),
  };
}

function describeDefault(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return String(value ?? '');
}

function maskRedisUrl({ store: { redis } }: Config): string {
  if (redis === null) return '';
  const { kind, username, password, database, masterName, tls } = redis;
  const scheme = `redis${tls ? 's' : ''}${kind === 'server' ? '' : `-${kind}`}`;
  const credentials = username || password ? `${mask}@` : '';
  const path = `${kind === 'cluster' ? '' : `/${database}`}${kind === 'sentinel' ? `#${masterName}` : ''}`;
  return `${scheme}://${credentials}${describeAddresses(redis)}${path}`;
}

/**
 * Describes variables that are set and unknown, but similar to ours: `BANK_DATA_APIKEY (BANK_DATA_API_KEY?)`. Contains no
 * values.
 */
export function findUnknownVariables(env: Environment): string[] {
  const isKnown = new Set([...knownVariables, ...clientVariables]);
  const knownNames = knownVariables.map((name) => ({ name, plain: toPlain(name) }));
  const prefixes = knownVariables.flatMap((name) => /^[A-Z]{3,}_/.exec(name) ?? []);
  const ourPrefixes = [...new Set([...prefixes, ...ownPrefixes])].filter((prefix) => !commonPrefix.test(prefix));
  return Object.entries(env).flatMap(([name, value]) => {
    if (!value || isKnown.has(name) || isOfKubernetes(name, value)) return [];
    const likely = findLikelyName(knownNames, name);
    if (likely !== null) return [`${name} (${likely}?)`];
    return ourPrefixes.some((prefix) => name.startsWith(prefix)) ? [name] : [];
  });
}

/** Of `ledgerquill check --gateway`, which may use the same file of variables. */
const clientVariables = ['LEDGERQUILL_KEY'];
const ownPrefixes = ['LEDGERQUILL_', 'BANK_DATA', 'ESSAY', 'TRUSTED_DOCUMENT'];
/** Other programs have such variables, too. */
const commonPrefix = /^(LOG|MAX|REDIS|DATA|CACHE|CLIENT|STORE|ALLOWED|METRICS|OTEL)_/;

/** Kubernetes sets variables for each service of the namespace. */
function isOfKubernetes(name: string, value: string): boolean {
  return /_SERVICE_(HOST|PORT)(_|$)|_PORT_\d+_(TCP|UDP|SCTP)(_|$)/.test(name) || /^(tcp|udp|sctp):/.test(value);
}

/** The known name that differs in at most two letters, or in its last word. @param known names, and the same without underscores */
function findLikelyName(known: readonly { name: string; plain: string }[], given: string): string | null {
  const plain = toPlain(given.replace(/^(LEDGERQUILL|GATEWAY)_/, ''));
  // HOST and HOME are different words.
  const maxEdits = Math.min(2, Math.floor(plain.length / 5));
  const candidates = known
    .filter((candidate) => Math.abs(candidate.plain.length - plain.length) <= maxEdits)
    .map(({ name, plain: other }) => ({ name, edits: distance(other, plain) }));
  const [nearest] = candidates.toSorted((a, b) => a.edits - b.edits);
  if (nearest && nearest.edits <= maxEdits) return nearest.name;
  // CACHE_MAX_MEGABYTES: the only one that begins with the same two words.
  const begin = /^[A-Z]+_[A-Z]+_/.exec(given)?.[0];
  const [only, another] = begin ? known.filter(({ name }) => name.startsWith(begin)) : [];
  return only && !another ? only.name : null;
}

function toPlain(name: string): string {
  return name.toUpperCase().replaceAll(/[^A-Z\d]/g, '');
}
