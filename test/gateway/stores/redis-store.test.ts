import { describe, expect, it } from 'vitest';
import { describeStore } from '../../support/gateway/stores/store-contract.ts';
import { passTime, tRawClient, tRedis, tRedisStore, whyNoRedis } from '../../support/redis.ts';

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
    const keys = ['counter:key', 'origin:{ledgerquill:counter:key}', 'value:key'].map((key) => `ledgerquill:${key}`);
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

  it('is written in one packet by the commands of one turn', async () => {
    const { store, client } = await tStore();
    await store.get('before');
    const packets = async () => Number(/total_reads_processed:(\d+)/.exec(await client.info('stats'))?.[1]);
    const readsBefore = await packets();
    await Promise.all(['a', 'b', 'c'].map((key) => store.set(key, key, hour)));
    // The three commands, the INFO above and the one below.
    expect((await packets()) - readsBefore).toBeLessThanOrEqual(4);
    expect(await Promise.all(['a', 'b', 'c', 'd'].map(store.get))).toEqual(['a', 'b', 'c', null]);
  });

  it('is shared with one command for many keys', async () => {
    const { store, client } = await tStore();
    const { readMany, writeMany } = store.shared;
    const entries = ['a', 'b', 'c'].map((name) => ({ name, value: `value of ${name}`, expiresInMs: 60_000 }));
    await store.get('before');
    await client.config('RESETSTAT');
    await writeMany(entries);
    expect(await readMany(['c', 'missing', 'a'])).toEqual(['value of c', null, 'value of a']);
    const stats = await client.info('commandstats');
    const callsOf = (command: string) => new RegExp(`cmdstat_${command}:calls=(\\d+)`).exec(stats)?.[1];
    expect([callsOf('eval'), callsOf('mget'), callsOf('get')]).toEqual(['1', '1', undefined]);
    expect(await client.pttl('ledgerquill:look-up:a')).toBeGreaterThan(50_000);
    // An operator can delete all look-ups, and no essay with them.
    expect(await client.keys('ledgerquill:value:*')).toEqual([]);
    await store.set('a', 'essay', { expiresInMs: 60_000 });
    expect(await readMany(['a'])).toEqual(['value of a']);
    expect(await store.get('b')).toBeNull();
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
