import { randomUUID } from 'node:crypto';
import { type StoreRisk, storeRisks } from '../../base/errors.ts';
import { createRedisConnection, type RedisConnectionOptions } from './redis-connection.ts';
import type { SharedCommands, SharedEntry } from './shared-values.ts';
import { checkAmount, checkCounter, checkExpiry, checkKey, type Store } from './store.ts';

export type RedisStore = ReturnType<typeof createRedisStore>;

/** Stores everything in Redis (6 or later), which may be down at the start; while it is down, every call fails at once. */
export function createRedisStore(options: RedisConnectionOptions) {
  const { run, isUp, usePassword, close } = createRedisConnection(options);
  /** Its nodes have different keys, and one command has keys of one node only. */
  const isCluster = options.server.kind === 'cluster';

  const store: Store = {
    async get(key) {
      const name = toRedisKey('value', key);
      return run((redis) => redis.get(name));
    },
    async set(key, value, expiry) {
      const name = toRedisKey('value', key);
      const expiresInMs = checkExpiry(expiry);
      await run((redis) => redis.set(name, value, 'PX', expiresInMs));
    },
    async replace(key, seen, next, { also = [], ...expiry }) {
      const expiresInMs = checkExpiry(expiry);
      const values = isCluster ? [] : also;
      if (isCluster) for (const each of also) if (each.value !== null) await store.set(each.key, each.value, expiry);
      const names = [key, ...values.map((each) => each.key)].map((each) => toRedisKey('value', each));
      const texts = values.flatMap(({ value }) => [value ?? '', value === null ? 0 : 1]);
      const args = [seen ?? '', seen === null ? 0 : 1, expiresInMs, next ?? '', next === null ? 0 : 1, ...texts];
      const isReplaced = await run(
        async (redis) => (await redis.eval(replaceScript, names.length, ...names, ...args)) === 1,
      );
      if (isCluster && isReplaced) for (const each of also) if (each.value === null) await store.delete(each.key);
      return isReplaced;
    },
    async delete(key) {
      const name = toRedisKey('value', key);
      await run((redis) => redis.unlink(name));
    },
    async add(key, amount, { known, ...expiry }) {
      const name = toRedisKey('counter', key);
      const { id, sum } = known ?? { id: '', sum: 0 };
      const args = [checkAmount(amount), checkExpiry(expiry), randomUUID(), id, sum];
      const reply = await run((redis) => redis.eval(addScript, 2, name, originOf(name), ...args));
      const [newSum, newId, restored] = reply as [number, string, number];
      return { sum: newSum, id: newId, restored };
    },
    async addAll(amounts) {
      for (const each of amounts) checkCounter(each);
      if (isCluster) {
        const adding = amounts.map(({ key, amount, expiresInMs }) => store.add(key, amount, { expiresInMs }));
        return (await Promise.all(adding)).map(({ sum }) => sum);
      }
      const names = amounts.map(({ key }) => toRedisKey('counter', key));
      const args = amounts.flatMap(({ amount, expiresInMs }) => [amount, Math.ceil(expiresInMs)]);
      return (await run((redis) => redis.eval(addAllScript, names.length, ...names, ...args))) as number[];
    },
    close,
  };
  const shared: SharedCommands = {
    readMany(keys) {
      const names = keys.map((key) => toRedisKey('look-up', key));
      return run((redis) => (isCluster ? Promise.all(names.map((name) => redis.get(name))) : redis.mget(names)));
    },
    async writeMany(entries) {
      const names = entries.map(({ name }) => toRedisKey('look-up', name));
      const set = ({ value, expiresInMs }: SharedEntry, index: number) =>
        run((redis) => redis.set(names[index] ?? '', value, 'PX', expiresInMs));
      if (isCluster) return void (await Promise.all(entries.map(set)));
      const args = entries.flatMap(({ value, expiresInMs }) => [value, expiresInMs]);
      await run((redis) => redis.eval(writeScript, names.length, ...names, ...args));
    },
  };
  /** Why what it has stored is not safe. Empty if it does not say so. @throws StoreError */
  async function findRisks(): Promise<StoreRisk[]> {
    const infos = await run((redis) => {
      const masters = 'nodes' in redis ? redis.nodes('master') : [redis];
      // A user may lack the permission.
      return Promise.all(masters.map((master) => master.info().catch(() => '')));
    });
    const has = (line: RegExp) => infos.some((info) => line.test(info));
    return storeRisks.filter((risk) => has(linesOfRisks[risk]));
  }
  return { ...store, shared, isUp, usePassword, findRisks };
}

/** Of `INFO`. */
const linesOfRisks: Readonly<Record<StoreRisk, RegExp>> = {
  eviction: /^maxmemory_policy:(?!noeviction)\S/m,
  no_aof: /^aof_enabled:0/m,
};

/** Several programs may share one Redis, so every key has our prefix. Look-ups may be deleted by theirs, and no essay with them. */
function toRedisKey(kind: 'value' | 'look-up' | 'counter', key: string): string {
  return `ledgerquill:${kind}:${checkKey(key)}`;
}

/** The hash with the id of a counter, and what was restored. The braces assign it to the same node of a cluster. */
function originOf(counterName: string): string {
  return `ledgerquill:origin:{${counterName}}`;
}

/*
 * Like `addToCounter`.
 *
 * Redis runs a script atomically and stops its clock meanwhile, so a counter cannot expire between the two steps and
 * be left without an expiry. (PEXPIRE NX would suffice, but requires Redis 7.) While Redis is full, it refuses a script
 * whose first write needs memory, so INCRBY is the first one.
 */
const addScript = `
local counter, origin = KEYS[1], KEYS[2]
local amount, expiry, newId, knownId, knownSum = unpack(ARGV)
local stored = redis.call('GET', counter)
local id = stored and redis.call('HGET', origin, 'id')
local isLost = knownId ~= '' and id ~= knownId
if amount == '0' and not isLost then return { tonumber(stored or 0), id or '', 0 } end
local sum = redis.call('INCRBY', counter, amount)
if redis.call('PTTL', counter) < 0 then redis.call('PEXPIRE', counter, expiry) end
if not id then
  id = newId
  redis.call('DEL', origin)
  redis.call('HSET', origin, 'id', id)
  redis.call('PEXPIRE', origin, expiry)
end
local missing = 0
if isLost then missing = math.max(0, knownSum - tonumber(redis.call('HGET', origin, 'restored') or 0)) end
if missing > 0 then
  redis.call('HINCRBY', origin, 'restored', missing)
  sum = redis.call('INCRBY', counter, missing)
end
return { sum, id, missing }`;

/** Like `addScript`, without what a loss needs. */
const addAllScript = `
local sums = {}
for index = 1, #KEYS do
  local counter, amount, expiry = KEYS[index], ARGV[2 * index - 1], ARGV[2 * index]
  if amount == '0' then
    sums[index] = tonumber(redis.call('GET', counter) or 0)
  else
    sums[index] = redis.call('INCRBY', counter, amount)
    if redis.call('PTTL', counter) < 0 then redis.call('PEXPIRE', counter, expiry) end
  end
end
return sums`;

/** What was seen, the expiry, and then the text of each key, and whether it has one. */
const replaceScript = `
local seen, isSeen, expiry = unpack(ARGV)
local stored = redis.call('GET', KEYS[1])
if isSeen == '1' and stored ~= seen or isSeen == '0' and stored then return 0 end
for index = 1, #KEYS do
  local key, text, isText = KEYS[index], ARGV[2 * index + 2], ARGV[2 * index + 3]
  if isText == '1' then redis.call('SET', key, text, 'PX', expiry) else redis.call('DEL', key) end
end
return 1`;

/** For a pipeline, the client would create a promise and a timer for each command. */
const writeScript = `
for index = 1, #KEYS do redis.call('SET', KEYS[index], ARGV[2 * index - 1], 'PX', ARGV[2 * index]) end`;
