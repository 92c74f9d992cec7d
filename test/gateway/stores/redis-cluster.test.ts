import type { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { callsOf, describeStore } from '../../support/gateway/stores/store-contract.ts';
import { tShared } from '../../support/process.ts';
import {
  expectPing,
  passTime,
  type TRedis,
  tRawClient,
  tRedisCluster,
  tRedisStore,
  whyNoRedis,
} from '../../support/redis.ts';

const hour = { expiresInMs: 3_600_000 };
/** The store must accept calls of several nodes, so every test uses many keys. */
const keys = Array.from({ length: 30 }, (_, index) => `key-${index}`);

describe.skipIf(whyNoRedis)(`Redis Cluster${whyNoRedis}`, () => {
  const shared = tShared((onFinished) => tRedisCluster({ password: 'seeded-key', onFinished }));

  /** A store on the emptied cluster. */
  async function tStore() {
    const clients = shared().nodes.map(tRawClient);
    for (const client of clients) await client.flushall();
    const another = () => tRedisStore(shared().url).store;
    const pass = async (ms: number) => {
      for (const client of clients) await passTime(client, ms);
    };
    return { ...tRedisStore(shared().url), clients, another, pass };
  }

  describeStore('the store', tStore, { hasTransactions: false });

  it('responds to the PING of check-config', () => expectPing(shared(), 'the cluster', 'seeded-key'));

  it('distributes the keys over all masters, and is found through any of them', async () => {
    const { store, clients } = await tStore();
    await Promise.all(keys.map((key) => store.set(key, key, hour)));
    const sizes = await Promise.all(clients.map((client) => client.dbsize()));
    expect(sizes.every((size) => size > 0)).toBe(true);
    const { port } = shared().nodes[2] as { port: number };
    const { store: another } = tRedisStore(`redis-cluster://:seeded-key@127.0.0.1:1,127.0.0.1:${port}`);
    expect(await Promise.all(keys.map(another.get))).toEqual(keys);
  });

  it('may move a key to another master while it is used', async () => {
    const { store, clients, events } = await tStore();
    const [from, to] = clients as [Redis, Redis, Redis];
    const [fromId, toId] = [await from.cluster('MYID'), await to.cluster('MYID')];
    const name = await nameOnNode(from, 0);
    const redisKey = `ledgerquill:counter:${name}`;
    const keys = [redisKey, `ledgerquill:origin:{${redisKey}}`];
    const slot = await from.cluster('KEYSLOT', redisKey);
    const add = async () => (await store.add(name, 1, hour)).sum;
    expect(await add()).toBe(1);
    await to.cluster('SETSLOT', slot, 'IMPORTING', fromId);
    await from.cluster('SETSLOT', slot, 'MIGRATING', toId);
    expect(await add()).toBe(2);
    await from.migrate('127.0.0.1', shared().nodes[1]?.port ?? 0, '', 0, 5_000, 'AUTH', 'seeded-key', 'KEYS', ...keys);
    // The old master responds with ASK, then with MOVED.
    expect(await Promise.all([add(), add()])).toEqual([3, 4]);
    for (const client of [to, from]) await client.cluster('SETSLOT', slot, 'NODE', toId);
    expect(await Promise.all([add(), add()])).toEqual([5, 6]);
    expect(events).toEqual(['up']);
  });

  it('counts as down while a master does not respond or is down, and does not send a command again', async () => {
    const { store, clients, expectEvents } = await tStore();
    const lost = shared().nodes[2] as TRedis;
    const name = await nameOnNode(clients[2] as Redis, 2);
    await Promise.all(keys.map((key) => store.set(key, key, hour)));
    const waiting = tRedisStore(shared().url, { commandTimeoutMs: 5_000 });
    await waiting.store.add(name, 1, hour);
    lost.freeze();
    const adds = Promise.allSettled(Array.from({ length: 10 }, () => store.add(name, 1, hour)));
    await expect(waiting.store.add(name, 1, hour)).rejects.toMatchObject({ reason: 'timed out' });
    await waiting.expectEvents(['up', 'down: timed out']);
    await lost.stop();
    expect((await adds).map(({ status }) => status)).toEqual(Array(10).fill('rejected'));
    await expectEvents(['up', 'down: connection lost']);
    for (const call of callsOf(store, 'key')) {
      await expect(call()).rejects.toMatchObject({ name: 'StoreError', reason: 'not connected' });
    }
    await lost.restart();
    await Promise.all([expectEvents(['up', /^down: /, 'up']), waiting.expectEvents(['up', /^down: /, 'up'])]);
    expect((await store.add(name, 0, hour)).sum).toBe(0);
    // The lost master was not durable.
    const values = await Promise.all(keys.map(store.get));
    expect(new Set(values)).toContain(null);
    expect(values.filter((value, index) => value !== null && value !== keys[index])).toEqual([]);
    expect(values.filter((value) => value !== null).length).toBeGreaterThan(10);
  });
});

/** A key of the store whose counter is on that node of `tRedisCluster`. */
async function nameOnNode(client: Redis, node: 0 | 2): Promise<string> {
  for (let index = 0; ; index++) {
    const slot = await client.cluster('KEYSLOT', `ledgerquill:counter:name-${index}`);
    if (node === 0 ? slot <= 5_460 : slot >= 10_923) return `name-${index}`;
  }
}
