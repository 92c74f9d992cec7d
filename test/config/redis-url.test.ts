import { describe, expect, it } from 'vitest';
import { redisUrl } from '../../src/config/redis-url.ts';

describe('REDIS_URL', () => {
  it.each([
    ['redis://redis.internal', { host: 'redis.internal', port: 6379, database: 0, tls: false }],
    ['redis://[::1]:7000/3', { host: '::1', port: 7000, database: 3 }],
    ['rediss://:p%40ss@host', { username: '', password: 'p@ss', tls: true }],
    ['redis://user%3A1:secret@host/', { username: 'user:1', password: 'secret', database: 0 }],
  ])('is parsed: %s', (url, expected) => {
    expect(redisUrl.parse(url)).toMatchObject(expected);
  });

  it.each([
    'localhost:6379',
    'http://localhost:6379',
    'redis://',
    'redis://:secret@host:99999',
    'redis://:secret@host/database',
    'redis://:secret@host?commandTimeout=0',
    'redis://:%zzsecret@host',
    'not a secret URL',
  ])('is rejected without its value if it is malformed: %s', (url) => {
    const { error } = redisUrl.safeParse(url);
    expect(error?.issues[0]?.message).toMatch(/^must be redis:\/\//);
    expect(error?.message).not.toContain('secret');
  });
});
