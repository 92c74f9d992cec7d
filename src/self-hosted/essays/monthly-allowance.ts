import { beginOfMonth, monthAt } from '../../time/calendar-month.ts';

/** One place in the month's allowance, taken before the work it pays for. */
export interface Reservation {
  /** Gives the place back, once; without effect when its month is over. */
  giveBack(): void;
}

export interface EssayAllowanceStatus {
  limit: number;
  remaining: number;
  /** When the next calendar month begins. */
  renewsAt: Date;
  /** Whole seconds until then, at least 1. */
  renewsInSeconds: number;
}

export interface MonthlyAllowance {
  /** Takes a place; null when the month has none left. */
  reserve(): Reservation | null;
  /** What is left of this month; null where there is no allowance to use up. */
  status(): EssayAllowanceStatus | null;
}

interface MonthlyAllowanceOptions {
  /** Places per calendar month (UTC); null: as many as one likes. */
  limit: number | null;
  now?: () => Date;
}

/** Counts in memory: a restart begins the month anew. */
export function createMonthlyAllowance({ limit, now = () => new Date() }: MonthlyAllowanceOptions): MonthlyAllowance {
  let month = monthAt(now().getTime());
  let used = 0;

  return {
    reserve: () => {
      turnPage(now());
      if (limit !== null && used >= limit) return null;
      used += 1;
      return createReservation(month);
    },
    status: () => {
      if (limit === null) return null;
      const time = now();
      turnPage(time);
      const renewsAt = beginOfMonth(monthAt(time.getTime()) + 1);
      const renewsInSeconds = Math.max(1, Math.ceil((renewsAt.getTime() - time.getTime()) / 1000));
      return { limit, remaining: Math.max(0, limit - used), renewsAt, renewsInSeconds };
    },
  };

  function createReservation(reservedIn: number): Reservation {
    let isHeld = true;
    return {
      giveBack: () => {
        turnPage(now());
        if (isHeld && reservedIn === month) used -= 1;
        isHeld = false;
      },
    };
  }

  /** Only ever forward: a clock that is set back over midnight must not hand out the month a second time. */
  function turnPage(time: Date): void {
    const current = monthAt(time.getTime());
    if (current <= month) return;
    month = current;
    used = 0;
  }
}
