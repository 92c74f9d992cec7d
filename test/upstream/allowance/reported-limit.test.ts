import { describe, expect, it } from 'vitest';
import { createMemoryStore } from '../../stores/memory-store.ts';
import { monthHeaders, tAllowance, takeMany, takenOf, takeOne, tNovember } from './allowance.ts';

describe('what the upstream says is left', () => {
  it('holds where nothing is configured, and counts what others used', async () => {
    const allowance = tAllowance({ limit: null });
    (await takeOne(allowance)).learn(monthHeaders(100, 5));
    expect(await allowance.status()).toMatchObject({ used: 95, limit: 100, remaining: 5 });
    expect(takenOf(await takeMany(allowance, 20))).toHaveLength(5);
    expect(await allowance.status()).toMatchObject({ used: 100, limit: 100, remaining: 0 });
  });

  it.each([
    ['the configured limit, where less is left of it', 10, monthHeaders(100, 50), 9],
    ['what it says, where that is less', 60, monthHeaders(100, 5), 5],
  ])('does not replace a configured limit; the smaller rest counts: %s', async (_, limit, headers, left) => {
    const allowance = tAllowance({ limit });
    (await takeOne(allowance)).learn(headers);
    expect(await allowance.status()).toMatchObject({ remaining: left });
    expect(takenOf(await takeMany(allowance, 100))).toHaveLength(left);
  });

  it('frees what we counted and it did not charge', async () => {
    const allowance = tAllowance({ limit: null });
    const places = takenOf(await takeMany(allowance, 60));
    places[59]?.learn(monthHeaders(100, 95));
    expect(await allowance.status()).toMatchObject({ used: 60, limit: 100, remaining: 95 });
  });

  it('counts from the latest call, in whatever order the answers come', async () => {
    const allowance = tAllowance({ limit: null });
    const [first, second, third] = takenOf(await takeMany(allowance, 3));
    second?.learn(monthHeaders(100, 2));
    first?.learn(monthHeaders(100, 90));
    // The third call is one of the two that were left after the second.
    expect(takenOf(await takeMany(allowance, 5))).toHaveLength(1);
    third?.learn(monthHeaders(100, 2));
    expect(takenOf(await takeMany(allowance, 5))).toHaveLength(1);
  });

  it('is known to the next process', async () => {
    const store = createMemoryStore();
    const first = tAllowance({ store, limit: null });
    (await takeOne(first)).learn(monthHeaders(100, 3));
    (await takeOne(first)).learn(monthHeaders(100, 2));
    await first.settled();
    expect(takenOf(await takeMany(tAllowance({ store, limit: null }), 5))).toHaveLength(2);
  });

  it('is doubted after a day: the month of the upstream may have begun, and a call finds out', async () => {
    const clock = tNovember();
    const allowance = tAllowance({ limit: null, clock });
    (await takeOne(allowance)).learn(monthHeaders(100, 0));
    clock.time += 86_399_999;
    expect(await allowance.take()).toMatchObject({ kind: 'used-up' });
    clock.time += 1;
    (await takeOne(allowance)).learn(monthHeaders(100, 0));
    expect(await allowance.take()).toMatchObject({ kind: 'used-up' });
    clock.time += 86_400_000;
    (await takeOne(allowance)).learn(monthHeaders(100, 99));
    expect(takenOf(await takeMany(allowance, 200))).toHaveLength(99);
  });

  it.each([
    ['the limit alone', { 'x-ratelimit-limit-month': '10' }, 9],
    ['the rest alone', { 'x-ratelimit-remaining-month': '4' }, 4],
    ['a rest below 0', monthHeaders(10, -2), 0],
    ['a header sent twice', { 'x-ratelimit-remaining-month': ['7', '7'] }, 7],
  ])('is read from %s', async (_, headers, left) => {
    const allowance = tAllowance({ limit: null });
    (await takeOne(allowance)).learn(headers);
    expect(await allowance.status()).toMatchObject({ remaining: left });
  });

  it.each([
    ['no headers', {}],
    ['those of the day', { 'x-ratelimit-limit-day': '10', 'x-ratelimit-remaining-day': '0' }],
    ['words', { 'x-ratelimit-limit-month': 'unlimited', 'x-ratelimit-remaining-month': 'many' }],
    ['what means no limit', monthHeaders(-1, 0)],
    ['more than GraphQL has numbers for', monthHeaders(99_999_999_999, 99_999_999_999)],
  ])('is not read from %s', async (_, headers) => {
    const allowance = tAllowance({ limit: null });
    (await takeOne(allowance)).learn(headers);
    expect(await allowance.status()).toMatchObject({ used: 1, limit: null, remaining: null });
  });
});
