import { describe, expect, it, vi } from 'vitest';
import { createMonthlyAllowance } from '../../src/essay-service/monthly-allowance.ts';

function tAllowance(limit: number, start: string) {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(start) });
  return createMonthlyAllowance(limit);
}

describe('the monthly allowance', () => {
  it('releases a reservation once', () => {
    const allowance = tAllowance(2, '2025-03-10T00:00:00Z');
    allowance.reserve();
    const reservation = allowance.reserve();
    reservation?.release();
    reservation?.release();
    expect(allowance.state()).toMatchObject({ remaining: 1 });
  });

  it.each([
    ['2025-12-31T23:59:59.500Z', '2026-01-01T00:00:00.000Z', 1],
    ['2025-12-31T23:59:00Z', '2026-01-01T00:00:00.000Z', 60],
    ['2024-02-29T00:00:00Z', '2024-03-01T00:00:00.000Z', 86_400],
    ['2025-03-31T22:30:00-02:00', '2025-05-01T00:00:00.000Z', 30 * 86_400 - 1800],
  ])('at %s renews at %s, in UTC', (time, renewsAt, seconds) => {
    const state = tAllowance(1, time).state();
    expect(state?.renewsAt.toISOString()).toBe(renewsAt);
    expect(state?.renewsInSeconds).toBe(seconds);
  });

  it('is renewed in a new month, in which old reservations are not released', () => {
    const allowance = tAllowance(1, '2025-03-31T23:59:59Z');
    const reservation = allowance.reserve();
    expect(allowance.reserve()).toBeNull();
    vi.setSystemTime('2025-04-01T00:00:00Z');
    expect(allowance.reserve()).not.toBeNull();
    reservation?.release();
    expect(allowance.state()).toMatchObject({ remaining: 0 });
  });

  it('is not renewed when the clock is set back', () => {
    const allowance = tAllowance(1, '2025-04-01T00:00:00Z');
    allowance.reserve();
    vi.setSystemTime('2025-03-31T23:00:00Z');
    expect(allowance.reserve()).toBeNull();
  });
});
