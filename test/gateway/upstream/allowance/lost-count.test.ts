import { describe, expect, it, vi } from 'vitest';
import { createPaidBudgets } from '../../../../src/gateway/callers/paid-budget.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { createMemoryStore, tFailingStore } from '../../../support/gateway/stores/memory-store.ts';
import { reserveMany, tAllowance, useNovember } from '../../../support/gateway/upstream/send.ts';
import { tRawClient, tRedis, tRedisStore, whyNoRedis } from '../../../support/redis.ts';

/* A store that loses its data while gateways run: they add the calls that they know back to its counts. */

useNovember();

const usedOf = async (allowance: ReturnType<typeof tAllowance>) => (await allowance.status())?.used ?? Number.NaN;

describe('a count that the store has lost', () => {
  it('is restored once by two gateways, with the calls that both made since', async () => {
    const store = createMemoryStore();
    const gateways = [tAllowance({ store }), tAllowance({ store })] as const;
    const [one, other] = gateways;
    await reserveMany(one, 40);
    await reserveMany(other, 9);
    store.clear();
    await Promise.all([reserveMany(one, 3), reserveMany(other, 2)]);
    expect(await Promise.all(gateways.map(usedOf))).toEqual([54, 54]);
    expect(await usedOf(tAllowance({ store }))).toBe(54);
    // The first gateway did not know the last nine calls, so both have added something back.
    expect([one.fired, other.fired]).toEqual([['essays: restored 40'], ['essays: restored 9']]);
    expect(await reserveMany(one, 100)).toHaveLength(46);
  });

  it('is restored each time it is lost, and only by gateways that knew it', async () => {
    const store = createMemoryStore();
    const allowance = tAllowance({ store });
    await reserveMany(allowance, 5);
    for (const used of [6, 7]) {
      store.clear();
      const started = tAllowance({ store });
      expect(await usedOf(started)).toBe(0);
      await reserveMany(started, 1);
      expect(await usedOf(allowance)).toBe(used);
      expect(started.fired).toEqual([]);
    }
  });

  it('is restored after an outage, with the calls of the outage', async () => {
    const memory = createMemoryStore();
    const { store, fail, work } = tFailingStore(memory);
    const allowance = tAllowance({ store });
    await reserveMany(allowance, 4);
    fail();
    await reserveMany(allowance, 3);
    memory.clear();
    work();
    expect(await usedOf(allowance)).toBe(7);
    expect(await usedOf(tAllowance({ store: memory }))).toBe(7);
    expect(allowance.fired).toEqual(['essays: not connected', 'essays: restored 4']);
  });

  it('is not confused with one that is smaller because another gateway returned calls', async () => {
    const store = createMemoryStore();
    const [one, other] = [tAllowance({ store }), tAllowance({ store })];
    const reservations = await reserveMany(one, 9);
    expect(await usedOf(other)).toBe(9);
    for (const { release } of reservations) release();
    expect(await usedOf(one)).toBe(0);
    expect(await usedOf(other)).toBe(0);
    expect([one.fired, other.fired]).toEqual([[], []]);
  });

  it('is restored for each caller that has a budget', async () => {
    const store = createMemoryStore();
    const budgets = tBudgets(store);
    for (const caller of ['anna', 'ben']) for (let call = 0; call < 2; call++) await budgets.reserve(caller);
    store.clear();
    expect(await Promise.all(['anna', 'ben', 'new'].map(budgets.used))).toEqual([2, 2, 0]);
    expect(budgets.fired).toEqual(['bank-data: restored 2', 'bank-data: restored 2']);
  });
});

/** The budgets of the callers of one gateway. */
function tBudgets(store: Store) {
  const fired: string[] = [];
  const events = {
    budgetsNotStored() {},
    countRestored: (service: string, calls: number) => fired.push(`${service}: restored ${calls}`),
  };
  const { reserve, status, flush } = createPaidBudgets({ store, replicas: () => 2, events });
  const budget = { calls: 1_000_000, period: 'day' } as const;
  const limits = { requestsPerMinute: null, bankDataCalls: budget, essayCalls: null, maxQueryCost: null };
  const toCaller = (id: string) => ({ id, name: id, limits });
  return {
    reserve: async (id: string) => reserve(toCaller(id), 'bank-data'),
    async used(id: string) {
      const counted = await status(toCaller(id), 'bank-data');
      return counted && 'used' in counted ? counted.used : Number.NaN;
    },
    flush,
    fired,
  };
}

/** What both kinds of counts have in common. */
const counts = {
  allowance(store: Store) {
    const allowance = tAllowance({ store, limit: null, replicas: 2 });
    return { ...allowance, used: () => usedOf(allowance) };
  },
  budget(store: Store) {
    const { reserve, used, ...budgets } = tBudgets(store);
    return { ...budgets, reserve: () => reserve('anna'), used: () => used('anna') };
  },
};

describe.skipIf(whyNoRedis)(`two gateways that count while Redis is flushed${whyNoRedis}`, () => {
  it.each(Object.entries(counts))('never count fewer calls than were made: %s', async (_, createCount) => {
    vi.useRealTimers();
    const redis = await tRedis();
    const client = tRawClient(redis);
    const gateways = [1, 2].map(() => createCount(tRedisStore(redis.url).store));
    let made = 0;
    const makeCalls = async ({ reserve }: (typeof gateways)[number]) => {
      for (let call = 0; call < 400; call++) {
        await reserve();
        made += 1;
      }
    };
    const flushing = (async () => {
      for (const calls of [100, 300, 500]) {
        await vi.waitUntil(() => made >= calls, { interval: 1, timeout: 100_000 });
        await client.flushall();
        const before = made;
        const used = await Promise.all(gateways.map((gateway) => gateway.used()));
        expect(Math.max(...used)).toBeGreaterThanOrEqual(before);
      }
    })();
    await Promise.all([...gateways.map(makeCalls), flushing]);
    await Promise.all(gateways.map(({ flush }) => flush()));
    expect(made).toBe(800);
    const used = await createCount(tRedisStore(redis.url).store).used();
    expect(used).toBeGreaterThanOrEqual(800);
    // A block that one gateway returned just before a loss is added back by another one that knew it.
    expect(used).toBeLessThan(2_000);
    expect(gateways.flatMap(({ fired }) => fired).length).toBeGreaterThanOrEqual(3);
  });
});
