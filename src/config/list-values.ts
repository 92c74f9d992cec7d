import type * as z from 'zod';
import { createQuote } from './describe-values.ts';
import type { Config } from './gateway-config.ts';
import { secretFile } from './secret-files.ts';
import { type Environment, gatewayVariables } from './variables.ts';

interface ListedValue {
  name: string;
  /** Masked if it is a secret; empty if the variable is not set and has no default. */
  value: string;
  source: string;
}

/** Every variable of the gateway with the value that is used, and where that comes from. */
export function listValues(config: Config, env: Environment, dotenvNames: ReadonlySet<string>): ListedValue[] {
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
    const file = shape[`${name}_FILE`] === secretFile && env[`${name}_FILE`]?.trim();
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
    CALLER_MAX_QUERY_COST: String(config.maxQueryCost),
  };
}

function describeDefault(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'on' : 'off';
  return String(value ?? '');
}

function maskRedisUrl({ store: { redis } }: Config): string {
  if (redis === null) return '';
  const { host, port, username, password, database, tls } = redis;
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}/${database}`;
  return `redis${tls ? 's' : ''}://${username || password ? `${mask}@` : ''}${address}`;
}
