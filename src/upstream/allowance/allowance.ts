import type { ServiceName } from '../../errors.ts';
import type { Store } from '../../stores/store.ts';
import { beginOfMonth, monthAt, nameOfMonth } from '../../time/calendar-month.ts';
import { createMonthOfCalls, type MonthOfCalls, type Taken } from './monthly-count.ts';

export interface AllowanceStatus {
  service: ServiceName;
  /** Calls of this calendar month (UTC), or what the upstream says of them where that is more. */
  used: number;
  /** Null where neither the configuration nor the upstream names one. */
  limit: number | null;
  remaining: number | null;
  renewsAt: Date;
}

export interface UsedUp {
  kind: 'used-up';
  renewsAt: Date;
}

/** What may be spent on one upstream in a calendar month (UTC). None of its functions rejects. */
export interface Allowance {
  /** Counts a call before it is sent: once this resolves the store has it, so that no crash lets the count run behind. */
  take(): Promise<Taken | UsedUp>;
  status(): Promise<AllowanceStatus>;
  /** Once the store has everything that was counted, as far as it works; to be awaited before it is closed. */
  settled(): Promise<void>;
}

export interface AllowanceEvents {
  allowanceNearlyExhausted(service: ServiceName, percent: number): void;
  /** The store fails, so calls are counted in memory for now. Once, and once again when it worked in between. */
  allowanceNotStored(service: ServiceName, reason: string): void;
}

interface AllowanceOptions {
  service: ServiceName;
  /** Calls per month; null: as many as the upstream takes. */
  limit: number | null;
  store: Store;
  events?: AllowanceEvents;
  now?: () => number;
}

/**
 * Counts over all processes that share the store. Two limits hold: the configured one for what these count, and the one
 * that the upstream tells in its headers, which knows of others who use the same key. While the store fails, each process
 * goes by what it last knew and counts on in memory; that is added once the store works again.
 */
export function createAllowance({ service, limit, store, events, now = Date.now }: AllowanceOptions): Allowance {
  let isFailing = false;
  let page = openPage(monthAt(now()));

  return {
    async take() {
      const { month, calls } = currentPage();
      return (await calls.take()) ?? { kind: 'used-up', renewsAt: beginOfMonth(month + 1) };
    },
    async status() {
      const { month, calls } = currentPage();
      return { service, ...(await calls.status()), renewsAt: beginOfMonth(month + 1) };
    },
    settled: () => page.calls.settled(),
  };

  /** Only ever turned forward: a clock that is set back over midnight must not hand out the last month's rest. */
  function currentPage(): Page {
    const month = monthAt(now());
    if (month > page.month) page = openPage(month);
    return page;
  }

  function openPage(month: number): Page {
    const calls = createMonthOfCalls({
      store,
      key: `allowance:${service}:${nameOfMonth(month)}`,
      limit,
      now,
      onNearlyUsedUp: (percent) => events?.allowanceNearlyExhausted(service, percent),
      onFailed(reason) {
        if (!isFailing) events?.allowanceNotStored(service, reason);
        isFailing = true;
      },
      onWorks() {
        isFailing = false;
      },
    });
    return { month, calls };
  }
}

interface Page {
  month: number;
  calls: MonthOfCalls;
}
