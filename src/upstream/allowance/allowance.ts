import type { ServiceName } from '../../errors.ts';
import type { Store } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';
import { beginOfPeriod, nameOfPeriod, periodAt } from '../../time/calendar-period.ts';
import type { Exhausted } from '../outcome.ts';
import { createPeriodCount, type PeriodCount, type Reservation } from './period-count.ts';

export interface AllowanceStatus {
  service: ServiceName;
  /** Calls of this calendar month (UTC); the upstream's count if it is higher and its limit leaves fewer calls. */
  used: number;
  /** Null where neither the configuration nor the upstream sets one. */
  limit: number | null;
  remaining: number | null;
  renewsAt: Date;
}

/** The calls to one upstream in a calendar month (UTC). None of its functions rejects. */
export interface Allowance {
  /**
   * Counts a call. If the store works in time, the count is stored before this returns or resolves: a crash does not make it
   * too low.
   */
  reserve(): Reservation | Exhausted | Promise<Reservation | Exhausted>;
  status(): Promise<AllowanceStatus>;
  /** Stores everything that was counted, if the store works. Await it before the store is closed. */
  flush(): Promise<void>;
}

interface AllowanceOptions {
  service: ServiceName;
  /** Calls per month; null: unlimited. */
  limit: number | null;
  store: Store;
  /** Number of processes that share the store; null: it is not shared. */
  replicas: number | null;
  /** How long a call waits for the store while many are left; null: until it is stored, or the store has failed. */
  maxWaitMs?: number | null;
  events: Pick<Events, 'allowanceNearlyExhausted' | 'allowanceNotStored' | 'countRestored'>;
}

/**
 * Counts over all processes that share the store. Two limits apply: the configured one, and the one that the upstream
 * reports in its headers, which also counts the calls of other users of the same key. While the store fails, each
 * process counts in memory from the last known count, and adds its own calls to the store once it works again. If the
 * store is shared, each process then uses at most an equal share of what was left, and nothing if it never reached it.
 */
export function createAllowance({
  service,
  limit,
  store,
  replicas,
  maxWaitMs = null,
  events,
}: AllowanceOptions): Allowance {
  let isStoreUp = true;
  let current = openMonth(periodAt('month', Date.now()));

  return {
    reserve() {
      const { count, endsAt } = currentMonth();
      const reserved = count.reserve();
      if (!(reserved instanceof Promise)) return reserved;
      return reserved.then((reservation) => reservation ?? { kind: 'exhausted', renewsAt: new Date(endsAt) });
    },
    async status() {
      const { count, endsAt } = currentMonth();
      return { service, ...(await count.status()), renewsAt: new Date(endsAt) };
    },
    flush: () => current.count.flush(),
  };

  /** Never goes back, even if the clock does: the remaining calls of the previous month must not become available. */
  function currentMonth(): OpenMonth {
    const now = Date.now();
    if (now >= current.endsAt) {
      void current.count.flush();
      current = openMonth(periodAt('month', now));
    }
    return current;
  }

  function openMonth(month: number): OpenMonth {
    const count = createPeriodCount({
      store,
      key: `allowance:${service}:${nameOfPeriod('month', month)}`,
      limit,
      replicas,
      maxWaitMs,
      expiresInMs: monthExpiryMs,
      onNearlyExhausted: (percent) => events.allowanceNearlyExhausted(service, percent),
      onStoreFailed(reason) {
        if (isStoreUp) events.allowanceNotStored(service, reason);
        isStoreUp = false;
      },
      onStoreRecovered() {
        isStoreUp = true;
      },
      onRestored: (calls) => events.countRestored(service, calls),
    });
    return { count, endsAt: beginOfPeriod('month', month + 1).getTime() };
  }
}

interface OpenMonth {
  count: PeriodCount;
  /** In milliseconds since 1970. */
  endsAt: number;
}

/** Longer than two months, so that the previous month can be looked up. */
const monthExpiryMs = 93 * 86_400_000;
