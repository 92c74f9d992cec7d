import { expect, it } from 'vitest';
import { redisUrl } from '../../src/config/redis-url.ts';

// Malformed URLs are in test/support/config/wrong-values.ts.
it.each([
  ['redis://redis.internal', { host: 'redis.internal', port: 6379, database: 0, tls: false }],
  ['redis://[::1]:7000/3', { host: '::1', port: 7000, database: 3 }],
  ['rediss://:p%40ss@host', { username: '', password: 'p@ss', tls: true }],
  ['redis://user%3A1:secret@host/', { username: 'user:1', password: 'secret', database: 0 }],
])('REDIS_URL is parsed: %s', (url, expected) => {
  expect(redisUrl.parse(url)).toMatchObject(expected);
});
