import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createMemoryStore } from '../../stores/memory-store.ts';
import { monthHeaders, tAllowance, takeMany, takenOf, takeOne, tNovember } from './allowance.ts';

const december = new Date('2026-12-01T00:00:00.000Z');

describe('an allowance', () => {
  it('counts the calls of a calendar month, and tells when the next begins', async () => {
    const allowance = tAllowance({ limit: 100 });
    await takeMany(allowance, 3);
    expect(await allowance.status()).toEqual({
      service: 'essays',
      used: 3,
      limit: 100,
      remaining: 97,
      renewsAt: december,
    });
  });

  it('refuses what is over the limit, and writes nothing for it', async () => {
    const store = createMemoryStore();
    const allowance = tAllowance({ store, limit: 2 });
    await takeMany(allowance, 2);
    const add = vi.spyOn(store, 'add');
    expect(await takeMany(allowance, 3)).toEqual(Array(3).fill({ kind: 'used-up', renewsAt: december }));
    expect(add.mock.calls.every(([, amount]) => amount === 0)).toBe(true);
    expect(await allowance.status()).toMatchObject({ used: 2, remaining: 0 });
  });

  it('with a limit of 0 refuses everything, and without one nothing', async () => {
    expect(takenOf(await takeMany(tAllowance({ limit: 0 }), 2))).toEqual([]);
    const unlimited = tAllowance({ limit: null });
    expect(takenOf(await takeMany(unlimited, 500))).toHaveLength(500);
    expect(await unlimited.status()).toMatchObject({ used: 500, limit: null, remaining: null });
  });

  it('is never exceeded, however many take and give back at once in how many processes', async () => {
    const deeds = fc.array(fc.tuple(fc.nat(2), fc.nat(40), fc.nat(10)), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(deeds, fc.nat(60), async (deeds, limit) => {
        const store = createMemoryStore();
        const processes = [0, 1, 2].map(() => tAllowance({ store, limit }));
        let used = 0;
        await Promise.all(
          deeds.map(async ([index, takes, givenBack]) => {
            const process = processes[index] ?? tAllowance({ store, limit });
            const taken = takenOf(await takeMany(process, takes));
            used += taken.length;
            for (const place of taken.slice(0, givenBack)) {
              used -= 1;
              place.giveBack();
            }
            expect(used).toBeLessThanOrEqual(limit);
          }),
        );
        await Promise.all(processes.map(({ settled }) => settled()));
        expect(await processes[0]?.status()).toMatchObject({ used, remaining: limit - used });
      }),
    );
  });

  it('is used to the last call by parallel takers', async () => {
    const store = createMemoryStore();
    const processes = [tAllowance({ store, limit: 10 }), tAllowance({ store, limit: 10 })];
    const places = await Promise.all(processes.map((process) => takeMany(process, 50)));
    expect(takenOf(places.flat())).toHaveLength(10);
  });

  it('shares one write among those who take at once', async () => {
    const store = createMemoryStore();
    const allowance = tAllowance({ store });
    await takeOne(allowance);
    const add = vi.spyOn(store, 'add');
    await takeMany(allowance, 50);
    expect(add).toHaveBeenCalledTimes(1);
  });

  it('takes a place back once', async () => {
    const allowance = tAllowance({ limit: 1 });
    const place = await takeOne(allowance);
    place.giveBack();
    place.giveBack();
    expect(await allowance.status()).toMatchObject({ used: 0, remaining: 1 });
    expect(takenOf(await takeMany(allowance, 2))).toHaveLength(1);
  });
});

describe('a new month', () => {
  it('begins at midnight UTC, with nothing used; what was taken before goes back to its own month', async () => {
    const clock = { time: december.getTime() - 1 };
    const store = createMemoryStore();
    const allowance = tAllowance({ store, limit: 2, clock });
    const [last] = takenOf(await takeMany(allowance, 2));
    expect(await allowance.take()).toMatchObject({ kind: 'used-up' });
    clock.time += 1;
    expect(takenOf(await takeMany(allowance, 3))).toHaveLength(2);
    last?.giveBack();
    expect(await allowance.status()).toMatchObject({ used: 2, renewsAt: new Date('2027-01-01T00:00:00.000Z') });
    expect(await store.add('allowance:essays:2026-11', 0, { expiresInMs: 1 })).toBe(1);
    expect(await store.add('allowance:essays:2026-12', 0, { expiresInMs: 1 })).toBe(2);
  });

  it('is not left again when the clock is set back over midnight', async () => {
    const clock = { time: december.getTime() };
    const allowance = tAllowance({ limit: 2, clock });
    await takeMany(allowance, 2);
    clock.time -= 60_000;
    expect(await allowance.take()).toMatchObject({ kind: 'used-up' });
  });

  it('forgets what the upstream said of the last one', async () => {
    const clock = tNovember();
    const allowance = tAllowance({ limit: null, clock });
    (await takeOne(allowance)).learn(monthHeaders(100, 0));
    expect(await allowance.take()).toMatchObject({ kind: 'used-up' });
    clock.time = december.getTime();
    expect(await allowance.take()).toMatchObject({ kind: 'taken' });
  });
});

describe('the warnings', () => {
  it('come once each a month, at 80 and at 95 percent', async () => {
    const clock = tNovember();
    const allowance = tAllowance({ limit: 100, clock });
    await takeMany(allowance, 79);
    expect(allowance.told).toEqual([]);
    await takeOne(allowance);
    await takeMany(allowance, 14);
    expect(allowance.told).toEqual(['essays: 80 %']);
    await takeMany(allowance, 6);
    expect(allowance.told).toEqual(['essays: 80 %', 'essays: 95 %']);
    clock.time = december.getTime();
    await takeMany(allowance, 80);
    expect(allowance.told).toEqual(['essays: 80 %', 'essays: 95 %', 'essays: 80 %']);
  });

  it('come of what the upstream says, too', async () => {
    const allowance = tAllowance({ limit: null });
    (await takeOne(allowance)).learn(monthHeaders(100, 20));
    expect(allowance.told).toEqual(['essays: 80 %']);
  });
});
