import fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createPaidBudgets, ownerOfTool } from '../../../src/gateway/callers/paid-budget.ts';
import type { CallBudget } from '../../../src/gateway/config/callers.ts';
import type { Store } from '../../../src/gateway/stores/store.ts';
import { createMemoryStore, tFailingStore } from '../../support/gateway/stores/memory-store.ts';
import { tStoreProcess } from '../../support/process.ts';
import { tRedis, tRedisStore, whyNoRedis } from '../../support/redis.ts';

interface TBudgetsOptions {
  store?: Store;
  replicas?: number | null;
  countTimeoutMs?: number | null;
  maxBudgets?: number;
}

function tBudgets({
  store = createMemoryStore(),
  replicas = null,
  countTimeoutMs = null,
  maxBudgets = 100,
}: TBudgetsOptions = {}) {
  const events: string[] = [];
  const record = {
    budgetsNotStored: (reason: string) => void events.push(reason),
    countRestored: (service: string, calls: number) => void events.push(`${service}: restored ${calls}`),
  };
  const budgets = createPaidBudgets({
    store,
    replicas: replicas === null ? null : () => replicas,
    countTimeoutMs,
    maxBudgets,
    events: record,
  });
  onTestFinished(budgets.flush);
  return { ...budgets, events };
}

type Budgets = ReturnType<typeof tBudgets>;

function tCaller(id: string, bankDataCalls: CallBudget | null, essayCalls: CallBudget | null = null) {
  return { id, name: id, limits: { requestsPerMinute: null, bankDataCalls, essayCalls, maxQueryCost: null } };
}

const perDay = (calls: number): CallBudget => ({ calls, period: 'day' });
const perMonth = (calls: number): CallBudget => ({ calls, period: 'month' });

/** The reservations among so many attempts. */
async function reserveMany(budgets: Budgets, caller: ReturnType<typeof tCaller>, attempts: number) {
  const results = await Promise.all(Array.from({ length: attempts }, () => budgets.reserve(caller, 'bank-data')));
  return results.flatMap((result) => (result && 'release' in result ? [result] : []));
}

describe('a budget of paid calls', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T10:00:00Z') }));

  it('holds for each caller and service', async () => {
    const budgets = tBudgets();
    const anna = tCaller('anna', perDay(5), perMonth(2));
    expect(await reserveMany(budgets, anna, 20)).toHaveLength(5);
    expect(await reserveMany(budgets, tCaller('ben', perDay(5)), 20)).toHaveLength(5);
    const renewsAt = new Date('2026-11-22');
    expect(await budgets.reserve(anna, 'bank-data')).toEqual({ kind: 'budget-exhausted', renewsAt });
    expect(await budgets.reserve(anna, 'essays')).toMatchObject({ kind: 'reserved' });
    const ofDay = { service: 'bank-data', used: 5, limit: 5, remaining: 0, renewsAt };
    expect(await budgets.status(anna, 'bank-data')).toEqual(ofDay);
    const ofMonth = { service: 'essays', used: 1, limit: 2, remaining: 1, renewsAt: new Date('2026-12-01') };
    expect(await budgets.status(anna, 'essays')).toEqual(ofMonth);
    expect(await reserveMany(budgets, tCaller('zero', perDay(0)), 3)).toHaveLength(0);
  });

  it('in money is never exceeded, and goes on from what was spent when the price changes', async () => {
    const store = createMemoryStore();
    const perCall = (millionths: number) => ({ millionths, currency: 'EUR' });
    /** Of 1 EUR, at this price. */
    const ofEuro = (millionths: number): CallBudget => ({
      calls: Math.floor(1_000_000 / millionths),
      period: 'month',
      price: perCall(millionths),
    });
    const spend = (millionths: number, attempts: number) =>
      reserveMany(tBudgets({ store }), tCaller('anna', ofEuro(millionths)), attempts);
    expect(await spend(30_000, 20)).toHaveLength(20);
    // 0.40 EUR are left.
    expect(await spend(70_000, 2)).toHaveLength(2);
    expect(await spend(9_000, 100)).toHaveLength(28);
    expect(await spend(8_000, 3)).toHaveLength(1);
    expect(await spend(1, 1)).toHaveLength(0);
    // One in another currency, or in calls, is another count.
    const inDollars = { ...ofEuro(500_000), price: { millionths: 500_000, currency: 'USD' } };
    expect(await reserveMany(tBudgets({ store }), tCaller('anna', inDollars), 3)).toHaveLength(2);
    expect(await reserveMany(tBudgets({ store }), tCaller('anna', perMonth(3)), 4)).toHaveLength(3);
  });

  it('of a tool holds beside that of its caller, over two gateways', async () => {
    const store = createMemoryStore();
    const [first, second] = [tBudgets({ store, replicas: 2 }), tBudgets({ store, replicas: 2 })];
    const anna = tCaller('anna', perDay(10));
    const agent = { ...anna, toolLimits: [{ key: 'check_iban', maxCalls: 6, isShown: true }] };
    const reserved = await Promise.all([reserveMany(first, agent, 20), reserveMany(second, agent, 20)]);
    expect(reserved.flat()).toHaveLength(6);
    // What the tool was refused is not counted for its caller, and what the caller was refused not for another tool.
    expect(await reserveMany(first, anna, 20)).toHaveLength(4);
    const ofBic = { key: 'check_bic', maxCalls: 5, isShown: true };
    const other = { ...anna, toolLimits: [ofBic] };
    expect(await first.reserve(other, 'bank-data')).toMatchObject({ kind: 'budget-exhausted' });
    expect(await first.status(ownerOfTool(other, ofBic), 'bank-data')).toMatchObject({ used: 0, limit: 5 });
  });

  it('says before a call whether it would be refused, and counts nothing', async () => {
    const budgets = tBudgets();
    const anna = tCaller('anna', perDay(1));
    for (let count = 0; count < 3; count += 1) expect(await budgets.findRefusal(anna, 'bank-data')).toBeNull();
    expect(await budgets.findRefusal(anna, 'essays')).toBeNull();
    expect(await reserveMany(budgets, anna, 1)).toHaveLength(1);
    expect(await budgets.findRefusal(anna, 'bank-data')).toMatchObject({ renewsAt: new Date('2026-11-22') });
    expect(await budgets.status(anna, 'bank-data')).toMatchObject({ used: 1 });
  });

  it('gets a call back that was not made, once', async () => {
    const budgets = tBudgets();
    const caller = tCaller('a', perDay(3));
    const reservations = await reserveMany(budgets, caller, 3);
    reservations[0]?.release();
    reservations[0]?.release();
    expect(await reserveMany(budgets, caller, 5)).toHaveLength(1);
  });

  it('begins again with its day or month, and not when the clock is set back', async () => {
    const budgets = tBudgets();
    const daily = tCaller('daily', perDay(2));
    const monthly = tCaller('monthly', perMonth(2));
    const both = async () => [
      (await reserveMany(budgets, daily, 5)).length,
      (await reserveMany(budgets, monthly, 5)).length,
    ];
    expect(await both()).toEqual([2, 2]);
    vi.setSystemTime(new Date('2026-11-22T00:00:00Z'));
    expect(await both()).toEqual([2, 0]);
    vi.setSystemTime(new Date('2026-12-01T00:00:00Z'));
    expect(await both()).toEqual([2, 2]);
    vi.setSystemTime(new Date('2026-11-30T00:00:00Z'));
    expect(await both()).toEqual([0, 0]);
  });

  it('may change while it is in use', async () => {
    const budgets = tBudgets();
    expect(await reserveMany(budgets, tCaller('a', perDay(3)), 5)).toHaveLength(3);
    expect(await reserveMany(budgets, tCaller('a', perDay(5)), 5)).toHaveLength(2);
    expect(await reserveMany(budgets, tCaller('a', perDay(1)), 5)).toHaveLength(0);
  });

  it('is read from the store if it is not in memory, and never exceeded while the store fails', async () => {
    const { store, fail, work } = tFailingStore(createMemoryStore());
    const budgets = tBudgets({ store, maxBudgets: 2 });
    const callers = ['a', 'b', 'c'].map((id) => tCaller(id, perDay(4)));
    for (const caller of callers) expect(await reserveMany(budgets, caller, 2)).toHaveLength(2);
    fail();
    const calls: number[] = [];
    for (const caller of [...callers, ...callers]) calls.push((await reserveMany(budgets, caller, 9)).length);
    // Only the last caller is still in memory: the first took the place of the second before the failure was known.
    expect(calls).toEqual([0, 0, 2, 0, 0, 0]);
    expect(budgets.events).toEqual(['not connected']);
    work();
    await vi.waitFor(
      async () => expect(await reserveMany(budgets, callers[1] ?? tCaller('', null), 9)).toHaveLength(2),
      { timeout: 100_000 },
    );
    for (const [index, rest] of [2, 0, 0].entries()) {
      expect(await reserveMany(budgets, callers[index] ?? tCaller('', null), 9)).toHaveLength(rest);
    }
  });
});

describe.skipIf(whyNoRedis !== '')(`budgets in Redis${whyNoRedis}`, () => {
  const step = fc.record({
    replica: fc.nat(2),
    caller: fc.nat(1),
    action: fc.constantFrom('reserve', 'reserve', 'reserve', 'release', 'crash'),
    count: fc.integer({ min: 1, max: 8 }),
  });

  it('are never exceeded, however callers and replicas interleave, and when replicas are killed', async () => {
    const redis = await tRedis();
    const stores = [1, 2, 3].map(() => tRedisStore(redis.url).store);
    const start = (index: number) => tBudgets({ store: stores[index % 3] ?? createMemoryStore(), replicas: 3 });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), fc.integer({ min: 0, max: 12 }), async (steps, limit) => {
        run += 1;
        const callers = ['a', 'b'].map((id) => tCaller(`${run}:${id}`, perMonth(limit)));
        const replicas = [0, 1, 2].map(start);
        const made = callers.map(() => 0);
        const held: { caller: number; replica: Budgets; release: () => void }[] = [];
        await Promise.all(
          steps.map(async ({ replica: index, caller: number, action, count }) => {
            const replica = replicas[index];
            const caller = callers[number];
            if (!replica || !caller) return;
            if (action === 'crash') {
              // Its counts in memory are lost, and the calls that it reserved may have been made.
              replicas[index] = start(index);
              return;
            }
            if (action === 'release') {
              const reservation = held.pop();
              reservation?.release();
              if (reservation) made[reservation.caller] = (made[reservation.caller] ?? 0) - 1;
              return;
            }
            for (const { release } of await reserveMany(replica, caller, count)) {
              made[number] = (made[number] ?? 0) + 1;
              held.push({ caller: number, replica, release });
              expect(made[number]).toBeLessThanOrEqual(limit);
            }
          }),
        );
        await Promise.all(replicas.map((replica) => replica.flush()));
        // Nothing is lost either: what was not used can still be used.
        const [first] = replicas;
        for (const [number, caller] of callers.entries()) {
          const rest = first ? (await reserveMany(first, caller, 20)).length : 0;
          expect((made[number] ?? 0) + rest).toBeLessThanOrEqual(limit);
          if (steps.every(({ action }) => action !== 'crash')) expect((made[number] ?? 0) + rest).toBe(limit);
        }
        await Promise.all(replicas.map((replica) => replica.flush()));
      }),
      { numRuns: 60 },
    );
  });

  it('are never exceeded by a process that is killed, and one that goes on', async () => {
    const calls = 20_000;
    const redis = await tRedis();
    const env = { REDIS_URL: redis.url, CALLS: String(calls) };
    const killed = tStoreProcess('reserve', env);
    const budgets = tBudgets({ store: tRedisStore(redis.url).store, replicas: 3 });
    const made = () => killed.stdout().match(/\./g)?.length ?? 0;
    let ownCalls = 0;
    const makeCalls = async () => {
      while ((await budgets.reserve(tCaller('caller', perMonth(calls)), 'bank-data'))?.kind === 'reserved')
        ownCalls += 1;
    };
    await killed.printed(/\.{50}/);
    const own = Promise.all(Array.from({ length: 8 }, makeCalls));
    await killed.printed(/\.{100}/);
    killed.kill('SIGKILL');
    expect((await killed.ended).signal).toBe('SIGKILL');
    await own;
    expect(made()).toBeLessThan(calls);
    expect(ownCalls).toBeGreaterThan(0);
    expect(made() + ownCalls).toBeLessThanOrEqual(calls);
  });
});
