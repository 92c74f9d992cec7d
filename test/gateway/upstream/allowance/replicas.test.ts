import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createGatewayCount } from '../../../../src/gateway/stores/gateway-count.ts';
import { createMemoryStore, tFailingStore } from '../../../support/gateway/stores/memory-store.ts';
import { reserveMany, tAllowance } from '../../../support/gateway/upstream/send.ts';

/* Gateways that share a store which fails, each with its share of what was left. */

beforeEach(() => {
  vi.useFakeTimers({ now: new Date('2026-11-21') });
});
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0);
});

function tReplicas({ replicas, limit }: { replicas: number; limit: number | null }) {
  const memory = createMemoryStore();
  const { store, fail, work } = tFailingStore(memory);
  const start = () => tAllowance({ store, limit, replicas });
  const all = Array.from({ length: replicas }, start);
  const reserve = async (allowance: (typeof all)[number], number: number) =>
    (await reserveMany(allowance, number)).length;
  /** How many calls each may make, with more requests than there are calls. */
  const reserveAll = async () => Promise.all(all.map((allowance) => reserve(allowance, 200)));
  const close = () => Promise.all(all.map(({ flush }) => flush()));
  return { memory, fail, work, start, all, reserve, reserveAll, close };
}

it.each([
  [2, 50, 0, [25, 25]],
  [2, 50, 10, [20, 20]],
  [3, 50, 0, [16, 16, 16]],
  [2, 50, 50, [0, 0]],
  [1, 50, 10, [40]],
])('%i gateways with a limit of %i, of which %i are used, may make %j calls', async (replicas, limit, used, shares) => {
  const { fail, work, all, reserve, reserveAll, close } = tReplicas({ replicas, limit });
  for (const allowance of all) await allowance.status();
  if (all[0]) expect(await reserve(all[0], used)).toBe(used);
  for (const allowance of all) await allowance.status();
  fail();
  expect(await reserveAll()).toEqual(shares);
  expect(await reserveAll()).toEqual(shares.map(() => 0));
  work();
  await close();
  const calls = used + shares.reduce((sum, share) => sum + share, 0);
  expect(await all[0]?.status()).toMatchObject({ used: calls, remaining: limit - calls });
  await close();
});

it('a gateway that started while the store fails may make no calls until it works', async () => {
  const { fail, work, start, reserve, all, close } = tReplicas({ replicas: 1, limit: 50 });
  if (all[0]) expect(await reserve(all[0], 20)).toBe(20);
  fail();
  const restarted = start();
  expect(await reserve(restarted, 50)).toBe(0);
  expect(await restarted.reserve()).toEqual({ kind: 'uncounted' });
  expect(await restarted.findRefusal()).toEqual({ kind: 'uncounted' });
  expect([await restarted.status(), restarted.known()]).toEqual([null, null]);
  work();
  expect(await reserve(restarted, 50)).toBe(30);
  await Promise.all([restarted.flush(), close()]);
});

it('a gateway without a limit may make any number of calls', async () => {
  const { fail, work, reserve, start, close } = tReplicas({ replicas: 2, limit: null });
  fail();
  const allowance = start();
  expect(await reserve(allowance, 100)).toBe(100);
  work();
  await allowance.flush();
  expect(await allowance.status()).toMatchObject({ used: 100 });
  await close();
});

it('a gateway knows what the others used up to five seconds before the store failed', async () => {
  const { fail, all, reserve, close } = tReplicas({ replicas: 2, limit: 50 });
  const [idle = tAllowance(), busy = tAllowance()] = all;
  expect(await reserve(idle, 1)).toBe(1);
  expect(await reserve(busy, 39)).toBe(39);
  await vi.advanceTimersByTimeAsync(5_000);
  fail();
  expect(await reserve(idle, 50)).toBe(5);
  expect(await reserve(busy, 50)).toBe(5);
  await close();
});

it('the next outage begins with the count of all', async () => {
  const { fail, work, reserveAll, all, close } = tReplicas({ replicas: 2, limit: 100 });
  for (const allowance of all) await allowance.status();
  fail();
  for (const allowance of all) await reserveMany(allowance, 10);
  work();
  for (const allowance of all) await allowance.status();
  for (const allowance of all) await allowance.status();
  fail();
  expect(await reserveAll()).toEqual([40, 40]);
  await close();
});

it('gateways that were not declared count each other, and use no more than their shares', async () => {
  const memory = createMemoryStore();
  const { store, fail, work } = tFailingStore(memory);
  const start = () => {
    const counted = createGatewayCount(store);
    return { ...counted, allowance: tAllowance({ store, limit: 200, replicas: counted.gateways }) };
  };
  const all = [start(), start()];
  for (const { allowance } of all) expect(await reserveMany(allowance, 5)).toHaveLength(5);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(all.map(({ gateways }) => gateways())).toEqual([2, 2]);
  fail();
  await vi.advanceTimersByTimeAsync(60_000);
  const paid = await Promise.all(all.map(({ allowance }) => reserveMany(allowance, 200)));
  expect(paid.map(({ length }) => length)).toEqual([95, 95]);
  work();
  const third = start();
  await vi.advanceTimersByTimeAsync(10_000);
  expect([...all, third].map(({ gateways }) => gateways())).toEqual([3, 3, 3]);
  all[0]?.close();
  await vi.advanceTimersByTimeAsync(30_000);
  expect([all[1], third].map((gateway) => gateway?.gateways())).toEqual([2, 2]);
  for (const { allowance, close } of [...all, third]) {
    await allowance.flush();
    close();
  }
});

it.each([0, 1_000, 4_999])(
  'gateways make no more calls than are left if the store fails %i ms after one has started',
  async (afterMs) => {
    const { store, fail, work } = tFailingStore(createMemoryStore());
    const start = () => {
      const counted = createGatewayCount(store);
      return { ...counted, allowance: tAllowance({ store, limit: 40, replicas: counted.gateways }) };
    };
    const first = start();
    await first.allowance.status();
    await vi.advanceTimersByTimeAsync(12_000);
    const second = start();
    await second.allowance.status();
    await vi.advanceTimersByTimeAsync(afterMs);
    fail();
    const all = [first, second];
    const made = await Promise.all(all.map(({ allowance }) => reserveMany(allowance, 200)));
    const sum = made.reduce((calls, { length }) => calls + length, 0);
    expect(sum).toBeLessThanOrEqual(40);
    expect(made[0]?.length).toBeGreaterThanOrEqual(20);
    work();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(all.map(({ gateways }) => gateways())).toEqual([2, 2]);
    for (const { allowance, close } of all) {
      await allowance.flush();
      close();
    }
  },
);
