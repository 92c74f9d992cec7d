import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';
import {
  answered,
  monthHeaders,
  reserveMany,
  reserveOne,
  tAllowance,
  tAnswered,
  useNovember,
} from '../../../support/gateway/upstream/send.ts';

useNovember();

const december = new Date('2026-12-01T00:00:00.000Z');

describe('an allowance', () => {
  it('counts the calls of a calendar month, and reports when the next begins', async () => {
    const allowance = tAllowance({ limit: 100 });
    await reserveMany(allowance, 3);
    const status = { service: 'essays', used: 3, limit: 100, remaining: 97, renewsAt: december };
    expect(await allowance.status()).toEqual(status);
  });

  it('reserves nothing beyond the limit, and writes nothing then', async () => {
    const store = createMemoryStore();
    const allowance = tAllowance({ store, limit: 2 });
    await reserveMany(allowance, 2);
    const add = vi.spyOn(store, 'add');
    const results = await Promise.all([allowance.reserve(), allowance.reserve()]);
    expect(results).toEqual(Array(2).fill({ kind: 'exhausted', renewsAt: december }));
    expect(add.mock.calls.every(([, amount]) => amount === 0)).toBe(true);
    expect(await allowance.status()).toMatchObject({ used: 2, remaining: 0 });
  });

  it('reserves nothing with a limit of 0, and everything without a limit', async () => {
    expect(await reserveMany(tAllowance({ limit: 0 }), 2)).toEqual([]);
    const unlimited = tAllowance({ limit: null });
    expect(await reserveMany(unlimited, 500)).toHaveLength(500);
    expect(await unlimited.status()).toMatchObject({ used: 500, limit: null, remaining: null });
  });

  it('is never exceeded, however many processes reserve and release at once', async () => {
    const steps = fc.array(fc.tuple(fc.nat(2), fc.nat(40), fc.nat(10)), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(60), async (steps, limit) => {
        const store = createMemoryStore();
        const processes = [0, 1, 2].map(() => tAllowance({ store, limit }));
        let used = 0;
        await Promise.all(
          steps.map(async ([index, reserved, released]) => {
            const process = processes[index] ?? tAllowance({ store, limit });
            const taken = await reserveMany(process, reserved);
            used += taken.length;
            for (const reservation of taken.slice(0, released)) {
              used -= 1;
              reservation.release();
            }
            expect(used).toBeLessThanOrEqual(limit);
          }),
        );
        await Promise.all(processes.map(({ flush }) => flush()));
        expect(await processes[0]?.status()).toMatchObject({ used, remaining: limit - used });
      }),
    );
  });

  it('stores parallel reservations in one write', async () => {
    const store = createMemoryStore();
    const allowance = tAllowance({ store });
    await reserveOne(allowance);
    const add = vi.spyOn(store, 'add');
    await reserveMany(allowance, 50);
    expect(add).toHaveBeenCalledTimes(1);
  });

  it('releases a reservation once', async () => {
    const allowance = tAllowance({ limit: 1 });
    const reservation = await reserveOne(allowance);
    reservation.release();
    reservation.release();
    expect(await allowance.status()).toMatchObject({ used: 0, remaining: 1 });
    expect(await reserveMany(allowance, 2)).toHaveLength(1);
  });
});

describe('a new month', () => {
  it('begins at midnight UTC with nothing used; a reservation is released in its own month', async () => {
    vi.setSystemTime(december.getTime() - 1);
    const store = createMemoryStore();
    const allowance = tAllowance({ store, limit: 2 });
    const [last] = await reserveMany(allowance, 2);
    expect(await allowance.reserve()).toMatchObject({ kind: 'exhausted' });
    vi.advanceTimersByTime(1);
    expect(await reserveMany(allowance, 3)).toHaveLength(2);
    last?.release();
    expect(await allowance.status()).toMatchObject({ used: 2, renewsAt: new Date('2027-01-01T00:00:00.000Z') });
    expect((await store.add('allowance:essays:2026-11', 0, { expiresInMs: 1 })).sum).toBe(1);
    expect((await store.add('allowance:essays:2026-12', 0, { expiresInMs: 1 })).sum).toBe(2);
  });

  it('remains when the clock is set back past midnight', async () => {
    vi.setSystemTime(december);
    const allowance = tAllowance({ limit: 2 });
    await reserveMany(allowance, 2);
    vi.setSystemTime(december.getTime() - 60_000);
    expect(await allowance.reserve()).toMatchObject({ kind: 'exhausted' });
  });

  it('discards the limit that the upstream reported for the previous one', async () => {
    const allowance = await tAnswered(answered(200, { headers: monthHeaders(100, 0) }));
    expect(await allowance.reserve()).toMatchObject({ kind: 'exhausted' });
    vi.setSystemTime(december);
    expect(await allowance.reserve()).toMatchObject({ kind: 'reserved' });
  });
});

describe('the warnings', () => {
  it('are fired once each per month, at 80, 95 and 100 percent', async () => {
    const allowance = tAllowance({ limit: 100 });
    await reserveMany(allowance, 79);
    expect(allowance.fired).toEqual([]);
    await reserveOne(allowance);
    await reserveMany(allowance, 14);
    expect(allowance.fired).toEqual(['essays: 80 %']);
    await reserveMany(allowance, 5);
    expect(allowance.fired).toEqual(['essays: 80 %', 'essays: 95 %']);
    await reserveOne(allowance);
    expect(allowance.fired).toEqual(['essays: 80 %', 'essays: 95 %', 'essays: 100 %']);
    vi.setSystemTime(december);
    await reserveMany(allowance, 80);
    expect(allowance.fired).toEqual(['essays: 80 %', 'essays: 95 %', 'essays: 100 %', 'essays: 80 %']);
  });

  it('include the limit that the upstream reports', async () => {
    const allowance = await tAnswered(answered(200, { headers: monthHeaders(100, 20) }));
    expect(allowance.fired).toEqual(['essays: 80 %']);
  });
});
