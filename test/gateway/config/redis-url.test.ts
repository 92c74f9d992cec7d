import { expect, it } from 'vitest';
import { redisUrl } from '../../../src/gateway/config/redis-url.ts';

// Malformed URLs are in test/support/gateway/config/wrong-values.ts.
it.each([
  ['redis://redis.internal', { addresses: [{ host: 'redis.internal', port: 6379 }], database: 0, tls: false }],
  ['redis://[::1]:7000/3', { kind: 'server', addresses: [{ host: '::1', port: 7000 }], database: 3 }],
  ['rediss://:p%40ss@host', { username: '', password: 'p@ss', tls: true }],
  ['rediss://:pa:ss@word@host', { username: '', password: 'pa:ss@word' }],
  ['redis://user%3A1:secret@host/', { username: 'user:1', password: 'secret', database: 0 }],
  [
    'redis-sentinel://:secret@a,[::1]:7000/3#main-1',
    {
      kind: 'sentinel',
      addresses: [
        { host: 'a', port: 26379 },
        { host: '::1', port: 7000 },
      ],
      password: 'secret',
      database: 3,
      masterName: 'main-1',
      tls: false,
    },
  ],
  ['rediss-sentinel://host#main', { addresses: [{ host: 'host', port: 26379 }], database: 0, tls: true }],
  [
    'rediss-cluster://user:secret@a,b:7000/',
    {
      kind: 'cluster',
      addresses: [
        { host: 'a', port: 6379 },
        { host: 'b', port: 7000 },
      ],
      username: 'user',
      database: 0,
      tls: true,
    },
  ],
  ['REDIS-CLUSTER://host', { kind: 'cluster', tls: false }],
])('REDIS_URL is parsed: %s', (url, expected) => {
  expect(redisUrl.parse(url)).toMatchObject(expected);
});
