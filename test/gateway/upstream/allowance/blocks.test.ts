import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createMemoryStore, tFailingStore } from '../../../support/gateway/stores/memory-store.ts';
import { reserveMany, reserveOne, tAllowance } from '../../../support/gateway/upstream/send.ts';
import { settle } from '../../../support/turns.ts';

/* Under load, calls are counted in the store ahead of time, in blocks. */

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance', 'setTimeout', 'clearTimeout'], now: new Date('2026-11-21') });
});

/** An allowance without a limit, and what its store has counted. */
function tCounted(options: Parameters<typeof tAllowance>[0] = {}) {
  const memory = createMemoryStore();
  const { store, fail, work } = tFailingStore(memory);
  const counted = async (month = '2026-11') =>
    (await memory.add(`allowance:essays:${month}`, 0, { expiresInMs: 1 })).sum;
  const allowance = tAllowance({ store, limit: null, ...options });
  return { store, allowance, counted, fail, work, writes: vi.spyOn(store, 'add') };
}

describe('a block', () => {
  it('is stored before its calls are made, and has at most the calls of half a second', async () => {
    const { allowance, counted, writes } = tCounted();
    for (let calls = 1; calls <= 1_000; calls += 1) {
      await reserveOne(allowance);
      expect(await counted()).toBeGreaterThanOrEqual(calls);
      expect(await counted()).toBeLessThanOrEqual(calls + calls / 2);
      expect(await allowance.status()).toMatchObject({ used: calls });
    }
    expect(writes.mock.calls.filter(([, amount]) => amount > 0).length).toBeLessThan(30);
  });

  it('begins with ten calls per second: below, the count is exact', async () => {
    const { allowance, counted } = tCounted();
    await reserveMany(allowance, 9);
    expect(await counted()).toBe(9);
    await reserveOne(allowance);
    expect(await counted()).toBe(15);
  });

  it('costs its callers no promise, and has at most 10,000 calls', async () => {
    const { allowance, counted } = tCounted();
    await reserveMany(allowance, 25_000);
    expect(await counted()).toBe(35_000);
    for (let call = 0; call < 10_000; call += 1) expect(allowance.reserve()).toHaveProperty('kind', 'reserved');
    await settle();
    expect(await counted()).toBe(45_000);
  });

  it('is small where few calls remain: all of them can be made, and no other', async () => {
    const { store, allowance, counted } = tCounted({ limit: 2_000 });
    await reserveMany(allowance, 1_000);
    expect(await counted()).toBe(1_010);
    for (let call = 0; call < 950; call += 1) await reserveOne(allowance);
    await settle();
    expect(await counted()).toBe(1_950);
    const others = [tAllowance({ store, limit: 2_000 }), allowance, allowance];
    const made = await Promise.all(others.map((other) => reserveMany(other, 100)));
    expect(made.flat()).toHaveLength(50);
    expect(await counted()).toBe(2_000);
  });

  it('is shared with the other processes: each counts a part of what remains ahead of time', async () => {
    const { allowance, counted } = tCounted({ limit: 2_000, replicas: 5 });
    await reserveMany(allowance, 1_000);
    expect(await counted()).toBe(1_002);
    await allowance.flush();
  });

  it('is returned when nothing of it was used for a second', async () => {
    const { allowance, counted } = tCounted();
    await reserveMany(allowance, 100);
    await vi.advanceTimersByTimeAsync(900);
    await reserveOne(allowance);
    await vi.advanceTimersByTimeAsync(900);
    expect(await counted()).toBe(150);
    await vi.advanceTimersByTimeAsync(1_100);
    expect(await counted()).toBe(101);
    expect(vi.getTimerCount()).toBe(0);
  });

  it.each([
    ['when the gateway closes', (allowance: ReturnType<typeof tAllowance>) => allowance.flush()],
    [
      'when its month ends',
      async (allowance: ReturnType<typeof tAllowance>) => {
        vi.setSystemTime(new Date('2026-12-01'));
        await reserveOne(allowance);
        await settle();
      },
    ],
  ])('is returned %s', async (_, end) => {
    const { allowance, counted } = tCounted();
    await reserveMany(allowance, 100);
    expect(await counted()).toBe(150);
    await end(allowance);
    expect(await counted()).toBe(100);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('takes calls back that were not sent, without a write', async () => {
    const { allowance, counted, writes } = tCounted();
    await reserveMany(allowance, 100);
    const reservation = await reserveOne(allowance);
    writes.mockClear();
    reservation.release();
    expect(writes).not.toHaveBeenCalled();
    expect(await counted()).toBe(150);
    expect(await allowance.status()).toMatchObject({ used: 100 });
  });

  it('is used up while the store fails, and then counted in memory', async () => {
    const { allowance, counted, fail, work } = tCounted();
    await reserveMany(allowance, 100);
    fail();
    await reserveMany(allowance, 70);
    expect(await allowance.status()).toMatchObject({ used: 170 });
    expect(await counted()).toBe(150);
    work();
    await allowance.flush();
    expect(await counted()).toBe(170);
  });
});
