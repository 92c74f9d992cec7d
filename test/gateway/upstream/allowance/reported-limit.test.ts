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

describe('the limit that the upstream reports', () => {
  it('applies where no limit is configured, and includes what others used', async () => {
    const allowance = await tAnswered(answered(200, { headers: monthHeaders(100, 5) }));
    expect(await allowance.status()).toMatchObject({ used: 95, limit: 100, remaining: 5 });
    expect(await reserveMany(allowance, 20)).toHaveLength(5);
    expect(await allowance.status()).toMatchObject({ used: 100, limit: 100, remaining: 0 });
  });

  it.each([
    ['the configured one, which has less left', 10, monthHeaders(100, 50), 9],
    ['the reported one, which has less left', 60, monthHeaders(100, 5), 5],
  ])('does not replace a configured limit; the one with less left applies: %s', async (_, limit, headers, left) => {
    const allowance = await tAnswered(answered(200, { headers }), { limit });
    expect(await allowance.status()).toMatchObject({ remaining: left });
    expect(await reserveMany(allowance, 100)).toHaveLength(left);
  });

  it('says before a call whether it would be refused, except for the call that may show that it is wrong', async () => {
    const allowance = await tAnswered(answered(200, { headers: monthHeaders(100, 1) }));
    expect(await allowance.findRefusal()).toBeNull();
    await reserveOne(allowance);
    expect(await allowance.findRefusal()).toEqual({ kind: 'exhausted', renewsAt: new Date('2026-12-01') });
    vi.advanceTimersByTime(60_000);
    expect(await allowance.findRefusal()).toBeNull();
    await reserveOne(allowance);
    expect(await allowance.findRefusal()).toMatchObject({ kind: 'exhausted' });
  });

  it('frees calls that we counted and the upstream did not charge', async () => {
    const allowance = tAllowance({ limit: null });
    const reservations = await reserveMany(allowance, 60);
    reservations[59]?.recordAnswer(answered(200, { headers: monthHeaders(100, 95) }));
    expect(await allowance.status()).toMatchObject({ used: 60, limit: 100, remaining: 95 });
  });

  it('refers to the latest call, in whatever order the responses arrive', async () => {
    const allowance = tAllowance({ limit: null });
    const [first, second, third] = await reserveMany(allowance, 3);
    second?.recordAnswer(answered(200, { headers: monthHeaders(100, 2) }));
    first?.recordAnswer(answered(200, { headers: monthHeaders(100, 90) }));
    // The third call is one of the two that were left after the second.
    expect(await reserveMany(allowance, 5)).toHaveLength(1);
    third?.recordAnswer(answered(200, { headers: monthHeaders(100, 2) }));
    expect(await reserveMany(allowance, 5)).toHaveLength(1);
  });

  it('refers to the next call after the count was corrected', async () => {
    const allowance = tAllowance({ limit: null });
    const reservations = await reserveMany(allowance, 50);
    reservations[49]?.recordAnswer(answered(200, { headers: monthHeaders(100, 50) }));
    await allowance.flush();
    await allowance.correct(() => 10);
    vi.advanceTimersByTime(60_000);
    (await reserveOne(allowance)).recordAnswer(answered(200, { headers: monthHeaders(100, 70) }));
    expect(await allowance.status()).toMatchObject({ used: 30, limit: 100, remaining: 70 });
  });

  it('is stored for the next process', async () => {
    const store = createMemoryStore();
    const first = await tAnswered(answered(200, { headers: monthHeaders(100, 3) }), { store });
    (await reserveOne(first)).recordAnswer(answered(200, { headers: monthHeaders(100, 2) }));
    await first.flush();
    expect(await reserveMany(tAllowance({ store, limit: null }), 5)).toHaveLength(2);
  });

  it('expires after a day: the month of the upstream may have begun, and only a call shows it', async () => {
    const allowance = await tAnswered(answered(200, { headers: monthHeaders(100, 0) }));
    vi.advanceTimersByTime(86_400_000);
    (await reserveOne(allowance)).recordAnswer(answered(200, { headers: monthHeaders(100, 0) }));
    expect(await allowance.reserve()).toMatchObject({ kind: 'exhausted' });
    vi.advanceTimersByTime(86_400_000);
    (await reserveOne(allowance)).recordAnswer(answered(200, { headers: monthHeaders(100, 99) }));
    expect(await reserveMany(allowance, 200)).toHaveLength(99);
  });

  it.each([
    ['the limit alone', { limitMonth: '10' }, 9],
    ['the remainder alone', { remainingMonth: '4' }, 4],
    ['a remainder below 0', monthHeaders(10, -2), 0],
  ])('is read from %s', async (_, headers, left) => {
    const allowance = await tAnswered(answered(200, { headers }));
    expect(await allowance.status()).toMatchObject({ remaining: left });
  });

  it.each([
    ['no headers', {}],
    ['words', { limitMonth: 'unlimited', remainingMonth: 'many' }],
    ['a limit of -1, which means none', monthHeaders(-1, 0)],
    ["numbers beyond GraphQL's Int", monthHeaders(99_999_999_999, 99_999_999_999)],
  ])('is not read from %s', async (_, headers) => {
    const allowance = await tAnswered(answered(200, { headers }));
    expect(await allowance.status()).toMatchObject({ used: 1, limit: null, remaining: null });
  });
});

describe('a reported limit without remaining calls', () => {
  const none = answered(200, { headers: monthHeaders(100, 0) });
  const probeMs = 60_000;

  it('is probed by one call a minute, also after a restart', async () => {
    const store = createMemoryStore();
    const first = await tAnswered(none, { store });
    vi.advanceTimersByTime(probeMs - 1);
    expect(await reserveMany(first, 20)).toHaveLength(0);
    vi.advanceTimersByTime(1);
    expect(await reserveMany(first, 20)).toHaveLength(1);
    await first.flush();
    const second = tAllowance({ store, limit: null });
    vi.advanceTimersByTime(probeMs - 1);
    expect(await reserveMany(second, 20)).toHaveLength(0);
    vi.advanceTimersByTime(1);
    const [probe] = await reserveMany(second, 20);
    probe?.recordAnswer(none);
    expect(await reserveMany(second, 20)).toHaveLength(0);
  });

  it.each([
    ['reports what remains', answered(200, { headers: monthHeaders(100, 4) }), 4],
    ['is accepted without a report', answered(200), 20],
    ['is rejected without a report', answered(429), 0],
  ])('applies until a probe shows that it was wrong: one that %s', async (_, answer, left) => {
    const store = createMemoryStore();
    const allowance = await tAnswered(none, { store });
    vi.advanceTimersByTime(probeMs);
    (await reserveOne(allowance)).recordAnswer(answer);
    await allowance.flush();
    expect(await reserveMany(tAllowance({ store, limit: null }), 20)).toHaveLength(left);
  });

  it('is probed by the next call when a probe was not sent', async () => {
    const allowance = await tAnswered(none);
    vi.advanceTimersByTime(probeMs);
    (await reserveOne(allowance)).release();
    expect(await reserveMany(allowance, 20)).toHaveLength(1);
  });

  it('does not exceed the configured limit', async () => {
    const allowance = await tAnswered(none, { limit: 1 });
    vi.advanceTimersByTime(probeMs);
    expect(await reserveMany(allowance, 20)).toHaveLength(0);
  });

  it('does not block until a date in the future, which was stored before the clock was set back', async () => {
    const allowance = await tAnswered(none);
    vi.setSystemTime(Date.now() - 3_600_000);
    expect(await reserveMany(allowance, 20)).toHaveLength(1);
  });
});
