import type { RedisOptions } from 'ioredis';
import { ConfigError } from '../errors.ts';

/**
 * Where Redis is and how to get in: redis:// or rediss:// (TLS), user name and password, host, port, database number.
 * Read here and not by ioredis, which would take its options from the query, too.
 * @throws ConfigError, which does not hold the URL
 */
export function readRedisUrl(text: string): RedisOptions {
  const url = URL.canParse(text) ? new URL(text) : null;
  const database = /^\/?(\d{0,4})$/.exec(url?.pathname ?? '')?.[1];
  if (!url || !/^rediss?:$/.test(url.protocol) || !url.hostname || database === undefined || url.search || url.hash) {
    throw new ConfigError(['REDIS_URL: must be redis://[user:password@]host[:port][/database], or rediss:// with TLS']);
  }
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 6379),
    ...(url.username && { username: decode(url.username) }),
    ...(url.password && { password: decode(url.password) }),
    ...(database && { db: Number(database) }),
    ...(url.protocol === 'rediss:' && { tls: {} }),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigError(['REDIS_URL: a % in user name or password must be written as %25']);
  }
}
