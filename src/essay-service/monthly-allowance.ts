import { beginOfPeriod, periodAt } from '../base/calendar-period.ts';

/** One essay of the monthly allowance, reserved before it is written. */
interface Reservation {
  /** Returns the essay to the allowance, at most once; without effect in a later month. */
  release(): void;
}

/**
 * Counts essays per calendar month (UTC) in memory: a restart resets the count.
 * @param limit null for no limit
 */
export function createMonthlyAllowance(limit: number | null) {
  let month = periodAt('month', Date.now());
  let used = 0;

  return {
    /** Null if the allowance of the month is used up. */
    reserve(): Reservation | null {
      renew();
      if (limit !== null && used >= limit) return null;
      used += 1;
      let reservedIn: number | null = month;
      return {
        release() {
          renew();
          if (reservedIn === month) used -= 1;
          reservedIn = null;
        },
      };
    },
    /** Null without a limit. */
    state() {
      if (limit === null) return null;
      renew();
      const now = Date.now();
      const renewsAt = beginOfPeriod('month', periodAt('month', now) + 1);
      const renewsInSeconds = Math.max(1, Math.ceil((renewsAt.getTime() - now) / 1000));
      return { limit, remaining: Math.max(0, limit - used), renewsAt, renewsInSeconds };
    },
  };

  /** Never back to an earlier month: a clock that is set back must not renew the allowance. */
  function renew(): void {
    const current = periodAt('month', Date.now());
    if (current <= month) return;
    month = current;
    used = 0;
  }
}
