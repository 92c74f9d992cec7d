import * as z from 'zod';

/** Addresses and credentials of Redis; empty strings if not set. */
export interface RedisConfig {
  kind: 'server' | 'sentinel' | 'cluster';
  /** The server, the Sentinels, or nodes of the cluster. */
  addresses: RedisAddress[];
  username: string;
  password: string;
  /** A cluster has only 0. */
  database: number;
  /** By which the Sentinels know the server. */
  masterName: string;
  tls: boolean;
}

interface RedisAddress {
  host: string;
  port: number;
}

/** Parsed here and not by ioredis, which would also take options from the query string. */
export const redisUrl = z.string().transform((text, context): RedisConfig => {
  const config = parseRedisUrl(text);
  if (config) return config;
  context.addIssue(`must be ${describeForm(text)}, with a percent-encoded password`);
  return z.NEVER;
});

const urlPattern = /^redis(s?)(?:-(sentinel|cluster))?:\/\/(?:([^/?#]*)@)?([^@/?#]+)(?:\/(\d{0,4}))?(?:#([\w.-]+))?$/i;

function parseRedisUrl(text: string): RedisConfig | null {
  const [url, tls, form = 'server', credentials = '', hosts = '', database = '', masterName = ''] =
    urlPattern.exec(text) ?? [];
  if (url === undefined) return null;
  const kind = form.toLowerCase() as RedisConfig['kind'];
  const addresses = hosts.split(',').map((address) => parseAddress(address, kind === 'sentinel' ? 26_379 : 6_379));
  if (addresses.includes(null) || (kind === 'server' && addresses.length > 1)) return null;
  if ((kind === 'sentinel') !== (masterName !== '') || (kind === 'cluster' && database !== '')) return null;
  const [username = '', ...password] = credentials.split(':');
  try {
    return {
      kind,
      addresses: addresses.filter((address) => address !== null),
      username: decodeURIComponent(username),
      password: decodeURIComponent(password.join(':')),
      database: Number(database),
      masterName,
      tls: tls !== '',
    };
  } catch {
    return null;
  }
}

function parseAddress(text: string, defaultPort: number): RedisAddress | null {
  if (!URL.canParse(`redis://${text}`)) return null;
  const { hostname, port } = new URL(`redis://${text}`);
  return hostname === '' ? null : { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || defaultPort) };
}

/** The right form of a wrong URL; all forms if its scheme is unknown. */
function describeForm(text: string): string {
  const scheme = /^rediss?(?:-(sentinel|cluster))?:/i.exec(text);
  if (scheme === null) return Object.values(forms).join(', or ');
  return forms[(scheme[1]?.toLowerCase() ?? 'server') as RedisConfig['kind']];
}

const forms: Readonly<Record<RedisConfig['kind'], string>> = {
  server: 'redis://[user:password@]host[:port][/database], or rediss:// for TLS',
  sentinel:
    'redis-sentinel://[user:password@]host[:port],host[:port],...[/database]#masterName, or rediss-sentinel:// for TLS',
  cluster:
    'redis-cluster://[user:password@]host[:port],host[:port],... without a database, or rediss-cluster:// for TLS',
};

/** The addresses in the form of the URL. */
export function describeAddresses({ addresses }: Pick<RedisConfig, 'addresses'>): string {
  return addresses.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(',');
}
