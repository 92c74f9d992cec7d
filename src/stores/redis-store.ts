import { randomUUID } from 'node:crypto';
import DataLoader from 'dataloader';
import { createRedisConnection, type RedisConnectionOptions } from './redis-connection.ts';
import { checkAmount, checkExpiry, checkKey, type Lock, type Store } from './store.ts';

export interface RedisStore extends Store {
  isUp(): boolean;
}

/** Stores everything in Redis (6 or later), which may be down at the start; while it is down, every call fails at once. */
export function createRedisStore(options: RedisConnectionOptions): RedisStore {
  const { run, isUp, close } = createRedisConnection(options);
  /** Its nodes have different keys, and one command reads keys of one node only. */
  const isCluster = options.server.kind === 'cluster';
  /** The values that one turn of the event loop asks for are one command: lists and simultaneous requests ask for many. */
  const values = new DataLoader((names: readonly string[]) => run((redis) => redis.mget(...names)), {
    cache: false,
    batchScheduleFn: setImmediate,
    maxBatchSize: 1_000,
  });

  function createLock(name: string, holder: string): Lock {
    return {
      release: () => run(async (redis) => void (await redis.eval(releaseScript, 1, name, holder))),
      async extend(expiry) {
        const expiresInMs = checkExpiry(expiry);
        return run(async (redis) => (await redis.eval(extendScript, 1, name, holder, expiresInMs)) === 1);
      },
    };
  }

  return {
    async get(key) {
      const name = toRedisKey('value', key);
      return isCluster ? run((redis) => redis.get(name)) : values.load(name);
    },
    async set(key, value, expiry) {
      const name = toRedisKey('value', key);
      const expiresInMs = checkExpiry(expiry);
      await run((redis) => redis.set(name, value, 'PX', expiresInMs));
    },
    async setIfAbsent(key, value, expiry) {
      const name = toRedisKey('value', key);
      const expiresInMs = checkExpiry(expiry);
      return run(async (redis) => (await redis.eval(setIfAbsentScript, 1, name, value, expiresInMs)) as string | null);
    },
    async add(key, amount, expiry) {
      const name = toRedisKey('counter', key);
      const expiresInMs = checkExpiry(expiry);
      if (checkAmount(amount) === 0) return Number(await run((redis) => redis.get(name)));
      return Number(await run((redis) => redis.eval(addScript, 1, name, amount, expiresInMs)));
    },
    async lock(key, expiry) {
      const name = toRedisKey('lock', key);
      const expiresInMs = checkExpiry(expiry);
      const holder = randomUUID();
      const isAcquired = await run((redis) => redis.set(name, holder, 'PX', expiresInMs, 'NX'));
      return isAcquired === null ? null : createLock(name, holder);
    },
    isUp,
    close,
  };
}

/** Several programs may share one Redis, so every key has our prefix. */
function toRedisKey(kind: 'value' | 'counter' | 'lock', key: string): string {
  return `ledgerquill:${kind}:${checkKey(key)}`;
}

/*
 * Redis runs a script atomically and stops its clock meanwhile, so a counter cannot expire between the two steps and
 * be left without an expiry. (PEXPIRE NX would suffice, but requires Redis 7.)
 */
const addScript = `
local sum = redis.call('INCRBY', KEYS[1], ARGV[1])
if redis.call('PTTL', KEYS[1]) < 0 then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return sum`;

/** (SET NX GET would suffice, but requires Redis 7.) */
const setIfAbsentScript = `
local stored = redis.call('GET', KEYS[1])
if not stored then redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end
return stored`;

const releaseScript = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

const extendScript = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
