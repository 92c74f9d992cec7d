import type { ServiceName } from '../../errors.ts';
import type { Store } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import { beginOfMonth, monthAt, nameOfMonth } from '../../time/calendar-month.ts';
import type { Exhausted } from '../operation.ts';
import { createMonthlyCount, type MonthlyCount, type Reservation } from './monthly-count.ts';

export interface AllowanceStatus {
  service: ServiceName;
  /** Calls of this calendar month (UTC), or the upstream's count where that is higher. */
  used: number;
  /** Null where neither the configuration nor the upstream sets one. */
  limit: number | null;
  remaining: number | null;
  renewsAt: Date;
}

/** The calls to one upstream in a calendar month (UTC). None of its functions rejects. */
export interface Allowance {
  /** Counts a call before it is sent. The count is stored when this resolves, so a crash never leaves it behind. */
  reserve(): Promise<Reservation | Exhausted>;
  status(): Promise<AllowanceStatus>;
  /** Stores everything that was counted, if the store works. To be awaited before the store closes. */
  flush(): Promise<void>;
}

interface AllowanceOptions {
  service: ServiceName;
  /** Calls per month; null: unlimited. */
  limit: number | null;
  store: Store;
  events: Pick<Events, 'allowanceNearlyExhausted' | 'allowanceNotStored'>;
}

/**
 * Counts over all processes that share the store. Two limits apply: the configured one, and the one that the upstream
 * reports in its headers, which includes other users of the same key. While the store fails, each process counts in
 * memory from the last known count, and adds that once the store works again.
 */
export function createAllowance({ service, limit, store, events }: AllowanceOptions): Allowance {
  let isFailing = false;
  let current = openMonth(monthAt(Date.now()));

  return {
    async reserve() {
      const { month, count } = currentMonth();
      return (await count.reserve()) ?? { kind: 'exhausted', renewsAt: beginOfMonth(month + 1) };
    },
    async status() {
      const { month, count } = currentMonth();
      return { service, ...(await count.status()), renewsAt: beginOfMonth(month + 1) };
    },
    flush: () => current.count.flush(),
  };

  /** Only moves forward: a clock set back past midnight must not release the previous month's remainder. */
  function currentMonth(): { month: number; count: MonthlyCount } {
    const month = monthAt(Date.now());
    if (month > current.month) current = openMonth(month);
    return current;
  }

  function openMonth(month: number): { month: number; count: MonthlyCount } {
    const count = createMonthlyCount({
      store,
      key: `allowance:${service}:${nameOfMonth(month)}`,
      limit,
      onNearlyExhausted: (percent) => events.allowanceNearlyExhausted(service, percent),
      onStoreFailed(reason) {
        if (!isFailing) events.allowanceNotStored(service, reason);
        isFailing = true;
      },
      onStoreWorks() {
        isFailing = false;
      },
    });
    return { month, count };
  }
}
