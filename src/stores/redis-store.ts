import { randomUUID } from 'node:crypto';
import { createRedisConnection, type RedisConnectionOptions } from './redis-connection.ts';
import { checkAmount, checkKey, type Lock, readExpiry, type Store } from './store.ts';

export interface RedisStore extends Store {
  /** Whether Redis answered last. */
  isUp(): boolean;
}

interface RedisStoreOptions extends RedisConnectionOptions {
  /** Begins every key, where several programs share one Redis. */
  prefix?: string;
}

/**
 * Keeps everything in Redis (6 or later), shared by all who use the same prefix. It starts without Redis, too; as long
 * as that is away every call fails at once.
 * @throws ConfigError where the URL is none
 */
export function createRedisStore({ prefix = 'ledgerquill:', ...connectionOptions }: RedisStoreOptions): RedisStore {
  const { run, isUp, close } = createRedisConnection(connectionOptions);

  function redisKey(kind: 'value' | 'counter' | 'lock', key: string): string {
    return `${prefix}${kind}:${checkKey(key)}`;
  }

  function lockHeldBy(key: string, holder: string): Lock {
    return {
      release: () => run(async (redis) => void (await redis.eval(RELEASE, 1, key, holder))),
      async extend(expiry) {
        const expiresInMs = readExpiry(expiry);
        return run(async (redis) => (await redis.eval(EXTEND, 1, key, holder, expiresInMs)) === 1);
      },
    };
  }

  return {
    async get(key) {
      const name = redisKey('value', key);
      return run((redis) => redis.get(name));
    },
    async set(key, value, expiry) {
      const name = redisKey('value', key);
      const expiresInMs = readExpiry(expiry);
      await run((redis) => redis.set(name, value, 'PX', expiresInMs));
    },
    async add(key, amount, expiry) {
      const name = redisKey('counter', key);
      const expiresInMs = readExpiry(expiry);
      if (checkAmount(amount) === 0) return Number(await run((redis) => redis.get(name)));
      return Number(await run((redis) => redis.eval(ADD, 1, name, amount, expiresInMs)));
    },
    async lock(key, expiry) {
      const name = redisKey('lock', key);
      const expiresInMs = readExpiry(expiry);
      const holder = randomUUID();
      const answer = await run((redis) => redis.set(name, holder, 'PX', expiresInMs, 'NX'));
      return answer === null ? null : lockHeldBy(name, holder);
    },
    isUp,
    close,
  };
}

/*
 * Scripts, because Redis runs each on its own and stops its clock meanwhile: a counter cannot expire between its two
 * steps and come back to stay for ever. (PEXPIRE NX would do, but is of Redis 7.)
 */
const ADD = `
local sum = redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return sum`;

const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

const EXTEND = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
