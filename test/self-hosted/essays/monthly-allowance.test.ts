import { describe, expect, it } from 'vitest';
import { createMonthlyAllowance } from '../../../src/self-hosted/essays/monthly-allowance.ts';

function tAllowance(limit: number | null, start: string) {
  let time = new Date(start);
  const allowance = createMonthlyAllowance({ limit, now: () => time });
  return {
    allowance,
    itIs: (next: string) => {
      time = new Date(next);
    },
  };
}

describe('the monthly allowance', () => {
  it('hands out as many places as it has', () => {
    const { allowance } = tAllowance(2, '2025-03-10T00:00:00Z');
    expect(allowance.reserve()).not.toBeNull();
    expect(allowance.reserve()).not.toBeNull();
    expect(allowance.reserve()).toBeNull();
    expect(allowance.status()).toMatchObject({ limit: 2, remaining: 0 });
  });

  it('has nothing to count and nothing to say without a limit', () => {
    const { allowance } = tAllowance(null, '2025-03-10T00:00:00Z');
    for (let call = 0; call < 1000; call += 1) expect(allowance.reserve()).not.toBeNull();
    expect(allowance.status()).toBeNull();
  });

  it('takes a place back once', () => {
    const { allowance } = tAllowance(2, '2025-03-10T00:00:00Z');
    allowance.reserve();
    const place = allowance.reserve();
    place?.giveBack();
    place?.giveBack();
    expect(allowance.status()).toMatchObject({ remaining: 1 });
  });

  it.each([
    ['2025-12-31T23:59:59.500Z', '2026-01-01T00:00:00.000Z', 1],
    ['2025-12-31T23:59:00Z', '2026-01-01T00:00:00.000Z', 60],
    ['2024-02-29T00:00:00Z', '2024-03-01T00:00:00.000Z', 86_400],
    ['2025-03-31T22:30:00-02:00', '2025-05-01T00:00:00.000Z', 30 * 86_400 - 1800],
  ])('at %s it renews at %s, by UTC', (time, renewsAt, seconds) => {
    const status = tAllowance(1, time).allowance.status();
    expect(status?.renewsAt.toISOString()).toBe(renewsAt);
    expect(status?.renewsInSeconds).toBe(seconds);
  });

  it('begins anew with the month, and a place of the old one is not given back to it', () => {
    const { allowance, itIs } = tAllowance(1, '2025-03-31T23:59:59Z');
    const place = allowance.reserve();
    expect(allowance.reserve()).toBeNull();
    itIs('2025-04-01T00:00:00Z');
    expect(allowance.reserve()).not.toBeNull();
    place?.giveBack();
    expect(allowance.status()).toMatchObject({ remaining: 0 });
  });

  it('does not hand out a month again when the clock is set back', () => {
    const { allowance, itIs } = tAllowance(1, '2025-04-01T00:00:00Z');
    allowance.reserve();
    itIs('2025-03-31T23:00:00Z');
    expect(allowance.reserve()).toBeNull();
  });
});
