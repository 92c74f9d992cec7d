import { describe, expect, it } from 'vitest';
import { passTime, tRawClient, tRedisStore } from '../../support/gateway/stores/redis-client.ts';
import { describeStore } from '../../support/gateway/stores/store-contract.ts';
import { tRedis, whyNoRedis } from '../../support/redis.ts';

const hour = { expiresInMs: 3_600_000 };

async function tStore() {
  const redis = await tRedis();
  const client = tRawClient(redis);
  const another = () => tRedisStore(redis.url).store;
  return { ...tRedisStore(redis.url), client, another, pass: (ms: number) => passTime(client, ms) };
}

describeStore(`the Redis store${whyNoRedis}`, tStore, { skip: whyNoRedis !== '' });

describe.skipIf(whyNoRedis)(`the data of the Redis store${whyNoRedis}`, () => {
  it('has the prefix in all keys, and always expires', async () => {
    const { store, client } = await tStore();
    await store.set('key', 'value', hour);
    await store.add('key', 1, hour);
    await store.add('key', -1, hour);
    await store.add('other', 0, hour);
    await store.lock('key', hour);
    const keys = ['counter:key', 'lock:key', 'origin:{ledgerquill:counter:key}', 'value:key'].map(
      (key) => `ledgerquill:${key}`,
    );
    expect((await client.keys('*')).sort()).toEqual(keys);
    for (const key of keys) {
      const left = await client.pttl(key);
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(hour.expiresInMs);
    }
  });

  it('gets an expiry again if it was removed', async () => {
    const { store, client } = await tStore();
    await store.add('calls', 1, hour);
    await client.persist('ledgerquill:counter:calls');
    await store.add('calls', 1, hour);
    expect(await client.pttl('ledgerquill:counter:calls')).toBeGreaterThan(0);
  });

  it('is read with one command for all keys that are asked for together, and written in one packet', async () => {
    const { store, client } = await tStore();
    await store.get('before');
    const calls = async (command: string) => {
      const stats = await client.info('commandstats');
      return Number(new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    };
    const packets = async () => Number(/total_reads_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
    const keys = Array.from({ length: 1_500 }, (_, index) => `key-${index}`);
    const readsBefore = await packets();
    const mgetsBefore = await calls('mget');
    await Promise.all(keys.slice(0, 3).map((key) => store.set(key, key, hour)));
    // The three commands, the INFO above and those below.
    expect((await packets()) - readsBefore).toBeLessThanOrEqual(4);
    const values = await Promise.all(keys.map(store.get));
    expect(values.slice(0, 4)).toEqual(['key-0', 'key-1', 'key-2', null]);
    expect((await calls('mget')) - mgetsBefore).toBe(2);
    expect(await calls('get')).toBe(0);
  });

  it('does not appear in errors', async () => {
    const { store, events, client } = await tStore();
    await client.lpush('ledgerquill:counter:key', 'a list');
    const error = await store.add('key', 1, hour).catch((error) => error);
    expect(error).toMatchObject({ name: 'StoreError', reason: 'WRONGTYPE' });
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/ledgerquill:|127\.0\.0\.1/);
    expect(error.cause).toBeUndefined();
    expect(events).toEqual(['up']);
  });
});
