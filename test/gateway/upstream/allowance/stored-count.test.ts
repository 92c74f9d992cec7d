import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createLmdbStore } from '../../../../src/gateway/stores/lmdb-store.ts';
import { tFolder } from '../../../support/gateway/stores/folder.ts';
import { createMemoryStore, tFailingStore } from '../../../support/gateway/stores/memory-store.ts';
import {
  answered,
  monthHeaders,
  reserveMany,
  reserveOne,
  tAllowance,
  useNovember,
} from '../../../support/gateway/upstream/send.ts';
import { tGate } from '../../../support/turns.ts';

useNovember();

function tLmdb(folder: string) {
  const store = createLmdbStore({ folder });
  onTestFinished(() => store.close());
  return store;
}

it('continues after a restart of the embedded store, and keeps within the limit', async () => {
  const folder = tFolder();
  const before = tLmdb(folder);
  await reserveMany(tAllowance({ store: before, limit: 10 }), 7);
  await before.close();
  const after = tAllowance({ store: tLmdb(folder), limit: 10 });
  expect(await after.status()).toMatchObject({ used: 7, remaining: 3 });
  expect(await reserveMany(after, 50)).toHaveLength(3);
});

it.each([null, 10])(
  'does not go back to the last month at a restart, if the clock does, with the limit %s',
  async (limit) => {
    const store = createMemoryStore();
    vi.setSystemTime('2026-12-02');
    await reserveMany(tAllowance({ store, limit }), 7);
    vi.setSystemTime('2026-11-29');
    const after = tAllowance({ store, limit });
    expect(await after.status()).toMatchObject({ used: 7, renewsAt: new Date('2027-01-01') });
    await after.correct((used) => used - 1);
    expect(await reserveMany(after, 4)).toHaveLength(4);
    vi.setSystemTime('2026-12-03');
    expect(await after.status()).toMatchObject({ used: 10 });
    vi.setSystemTime('2027-01-01');
    expect(await after.status()).toMatchObject({ used: 0, renewsAt: new Date('2027-02-01') });
  },
);

it('does not wait for years after a clock was wrong by years', async () => {
  const store = createMemoryStore();
  vi.setSystemTime('2029-11-02');
  await reserveMany(tAllowance({ store }), 7);
  vi.setSystemTime('2026-11-29');
  expect(await tAllowance({ store }).status()).toMatchObject({ used: 0, renewsAt: new Date('2026-12-01') });
});

describe('while the store is slow', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: new Date('2026-11-21') });
  });

  /** An allowance on a store that adds only while its gate is open. */
  async function tSlow(limit: number) {
    const store = createMemoryStore();
    let gate = tGate();
    const slow: typeof store = {
      ...store,
      async add(...args) {
        await gate.opened;
        return store.add(...args);
      },
    };
    const allowance = tAllowance({ store: slow, limit, maxWaitMs: 100 });
    const first = reserveOne(allowance);
    await vi.advanceTimersByTimeAsync(100);
    gate.open();
    (await first).release();
    await allowance.flush();
    gate = tGate();
    const used = async () => (await tAllowance({ store, limit: null }).status())?.used;
    return { store, allowance, used, open: () => gate.open() };
  }

  it('a call waits no longer than its time limit, and is counted later', async () => {
    const { allowance, used, open } = await tSlow(1_000);
    const reserving = reserveMany(allowance, 3);
    await vi.advanceTimersByTimeAsync(101);
    (await reserving)[0]?.release();
    expect(await used()).toBe(0);
    open();
    await allowance.flush();
    expect(await used()).toBe(2);
  });

  it('a call is counted although other processes have used all that was left', async () => {
    const { store, allowance, used, open } = await tSlow(1_000);
    const reserving = reserveOne(allowance);
    await vi.advanceTimersByTimeAsync(101);
    await reserving;
    const other = tAllowance({ store, limit: null });
    await reserveMany(other, 1_000);
    open();
    await vi.advanceTimersByTimeAsync(0);
    await Promise.all([allowance.flush(), other.flush()]);
    expect(await used()).toBe(1_001);
  });

  it('its last known status is read within a time limit, if it was ever read', async () => {
    const { allowance, store, open } = await tSlow(1_000);
    const reserving = reserveOne(allowance);
    await vi.advanceTimersByTimeAsync(101);
    await reserving;
    const reading = allowance.statusWithin(1_000);
    await vi.advanceTimersByTimeAsync(1_001);
    const renewsAt = new Date('2026-12-01');
    expect(await reading).toEqual({ service: 'essays', used: 1, limit: 1_000, remaining: 999, renewsAt });
    open();
    await allowance.flush();
    expect(await allowance.statusWithin(1_000)).toMatchObject({ used: 1 });

    const held = { ...store, add: () => new Promise<never>(() => {}) };
    const unread = tAllowance({ store: held }).statusWithin(1_000);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(await unread).toBeNull();
  });

  it('a call waits for it near the end of the allowance', async () => {
    const { allowance, open } = await tSlow(99);
    const onReserved = vi.fn();
    const reserved = reserveOne(allowance).then(onReserved);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(onReserved).not.toHaveBeenCalled();
    open();
    await reserved;
  });
});

describe('while the store fails', () => {
  it('counts in memory, fires one event, and stores the count when the store works again', async () => {
    const memory = createMemoryStore();
    const failing = tFailingStore(memory);
    const allowance = tAllowance({ store: failing.store, limit: 10 });
    await reserveMany(allowance, 4);
    failing.fail();
    await reserveMany(allowance, 2);
    (await reserveOne(allowance)).release();
    expect(await allowance.status()).toMatchObject({ used: 6, remaining: 4 });
    expect(await reserveMany(allowance, 20)).toHaveLength(4);
    expect(allowance.fired.filter((line) => line.endsWith('not connected'))).toHaveLength(1);
    expect(await tAllowance({ store: memory, limit: 10 }).status()).toMatchObject({ used: 4 });
    failing.work();
    await allowance.flush();
    expect(await tAllowance({ store: memory, limit: 10 }).status()).toMatchObject({ used: 10 });
    failing.fail();
    await allowance.status();
    expect(allowance.fired.filter((line) => line.endsWith('not connected'))).toHaveLength(2);
  });

  it('starts from 0 where it failed from the start, and adds the stored count when it works', async () => {
    const memory = createMemoryStore();
    await reserveMany(tAllowance({ store: memory }), 50);
    const failing = tFailingStore(memory);
    failing.fail();
    const allowance = tAllowance({ store: failing.store });
    (await reserveOne(allowance)).recordAnswer(answered(200, { headers: monthHeaders(100, 30) }));
    expect(await allowance.status()).toMatchObject({ used: 70, remaining: 30 });
    const inFlight = await reserveOne(allowance);
    failing.work();
    expect(await allowance.status()).toMatchObject({ used: 71, remaining: 29 });
    inFlight.recordAnswer(answered(200, { headers: monthHeaders(100, 25) }));
    expect(await allowance.status()).toMatchObject({ used: 75, remaining: 25 });
    expect(await tAllowance({ store: memory, limit: 1_000 }).status()).toMatchObject({ used: 52 });
  });

  it('renumbers calls in flight each time it works again, so that their responses are still the latest', async () => {
    const memory = createMemoryStore();
    const failing = tFailingStore(memory);
    const allowance = tAllowance({ store: failing.store, limit: null });
    const other = tAllowance({ store: memory, limit: null });
    const inFlight = await reserveOne(allowance);
    for (const calls of [10, 5]) {
      failing.fail();
      await allowance.status();
      await reserveMany(other, calls);
      failing.work();
      await allowance.status();
    }
    // Its number was 1 and is 16 now, so all 16 calls are in what the upstream reports.
    inFlight.recordAnswer(answered(200, { headers: monthHeaders(100, 40) }));
    expect(await allowance.status()).toMatchObject({ used: 60, remaining: 40 });
  });
});
