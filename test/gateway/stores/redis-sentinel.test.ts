import { describe, expect, it } from 'vitest';
import { describeStore } from '../../support/gateway/stores/store-contract.ts';
import { tShared } from '../../support/process.ts';
import { expectPing, passTime, tRawClient, tRedisSentinel, tRedisStore, whyNoRedis } from '../../support/redis.ts';

const hour = { expiresInMs: 3_600_000 };

describe.skipIf(whyNoRedis)(`Redis with Sentinel${whyNoRedis}`, () => {
  const shared = tShared((onFinished) => tRedisSentinel({ password: 'seeded-key', onFinished }));

  /** A store on the emptied server. */
  async function tStore() {
    const client = tRawClient(shared().master);
    await client.flushall();
    const another = () => tRedisStore(shared().url).store;
    return { ...tRedisStore(shared().url), another, pass: (ms: number) => passTime(client, ms) };
  }

  describeStore('the store', tStore);

  it.each([
    ['an unknown master', '#main', '#other', 'unknown master name'],
    ['a wrong password', 'seeded-key', 'wrong', 'WRONGPASS'],
    ['no password', ':seeded-key@', '', 'NOAUTH'],
  ])('treats %s as an outage', async (_, right, wrong, reason) => {
    const { store, expectEvents } = tRedisStore(shared().url.replace(right, wrong));
    await expect(store.get('key')).rejects.toMatchObject({ reason: 'not connected' });
    await expectEvents([`down: ${reason}`]);
  });

  it('responds to the PING of check-config', () =>
    expectPing(shared(), 'the master main, found through Sentinel,', 'seeded-key'));

  it('treats Sentinels that cannot be reached as an outage', async () => {
    const { store, expectEvents } = tRedisStore('redis-sentinel://127.0.0.1:1,127.0.0.1:2#main');
    await expectEvents(['down: no server reachable']);
    await expect(store.get('key')).rejects.toMatchObject({ reason: 'not connected' });
  });

  it('uses the new master after a failover', async () => {
    const { store, expectEvents } = await tStore();
    await store.set('key', 'value', hour);
    await expect.poll(() => tRawClient(shared().replica).dbsize()).toBe(1);
    await shared().failOver();
    await expectEvents(['up', /^down: /]);
    await expect(store.get('key')).rejects.toMatchObject({ name: 'StoreError', reason: 'not connected' });
    await expectEvents(['up', /^down: /, 'up']);
    expect(await store.get('key')).toBe('value');
    expect((await store.add('calls', 1, hour)).sum).toBe(1);
  });
});
