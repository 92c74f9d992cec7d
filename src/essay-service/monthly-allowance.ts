import { beginOfPeriod, periodAt } from '../base/calendar-period.ts';

/** One essay of the monthly allowance, reserved before it is written. */
interface Reservation {
  /** Returns the essay to the allowance, at most once; without effect in a later month. */
  release(): void;
}

interface AllowanceState {
  limit: number;
  remaining: number;
  /** The start of the next calendar month. */
  renewsAt: Date;
  /** Whole seconds until then, at least 1. */
  renewsInSeconds: number;
}

interface MonthlyAllowance {
  /** Returns null if the allowance of the month is used up. */
  reserve(): Reservation | null;
  /** The current state; null without a limit. */
  state(): AllowanceState | null;
}

/**
 * Counts essays per calendar month (UTC) in memory: a restart resets the count.
 * @param limit null for no limit
 */
export function createMonthlyAllowance(limit: number | null): MonthlyAllowance {
  let month = periodAt('month', Date.now());
  let used = 0;

  return {
    reserve() {
      renew();
      if (limit !== null && used >= limit) return null;
      used += 1;
      return createReservation(month);
    },
    state() {
      if (limit === null) return null;
      renew();
      const now = Date.now();
      const renewsAt = beginOfPeriod('month', periodAt('month', now) + 1);
      const renewsInSeconds = Math.max(1, Math.ceil((renewsAt.getTime() - now) / 1000));
      return { limit, remaining: Math.max(0, limit - used), renewsAt, renewsInSeconds };
    },
  };

  function createReservation(reservedIn: number): Reservation {
    let isReserved = true;
    return {
      release() {
        renew();
        if (isReserved && reservedIn === month) used -= 1;
        isReserved = false;
      },
    };
  }

  /** Never back to an earlier month: a clock that is set back must not renew the allowance. */
  function renew(): void {
    const current = periodAt('month', Date.now());
    if (current <= month) return;
    month = current;
    used = 0;
  }
}
