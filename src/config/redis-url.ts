import * as z from 'zod';

/** Address and credentials of a Redis server; empty strings if not set. */
export interface RedisConfig {
  host: string;
  port: number;
  username: string;
  password: string;
  database: number;
  tls: boolean;
}

/** Parsed here and not by ioredis, which would also take options from the query string. */
export const redisUrl = z.string().transform((text, context): RedisConfig => {
  const config = parseRedisUrl(text);
  if (config) return config;
  context.addIssue(
    'must be redis://[user:password@]host[:port][/database], or rediss:// for TLS, with a percent-encoded password',
  );
  return z.NEVER;
});

function parseRedisUrl(text: string): RedisConfig | null {
  if (!URL.canParse(text)) return null;
  const { protocol, hostname, port, pathname, username, password, search, hash } = new URL(text);
  const database = /^\/?(\d{0,4})$/.exec(pathname)?.[1];
  if (!/^rediss?:$/.test(protocol) || !hostname || database === undefined || search || hash) return null;
  try {
    return {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 6379),
      username: decodeURIComponent(username),
      password: decodeURIComponent(password),
      database: Number(database),
      tls: protocol === 'rediss:',
    };
  } catch {
    return null;
  }
}
