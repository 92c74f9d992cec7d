import type { Store } from '../../stores/store.ts';
import type { Answered } from '../operation.ts';
import { maxCallNumber, readReportedLimit, remainingCalls } from './reported-limit.ts';
import { createStoredCount } from './stored-count.ts';
import { createStoredLimit } from './stored-limit.ts';

/** A call that was counted and may be sent. */
export interface Reservation {
  kind: 'reserved';
  /** For a call that was surely not sent. Further calls do nothing. */
  release(): void;
  /** Records the rate limit that the response to the call reports, if it does. */
  recordHeaders(headers: Answered['headers']): void;
}

export interface MonthlyCount {
  /** Null when no call is left. */
  reserve(): Promise<Reservation | null>;
  status(): Promise<{ used: number; limit: number | null; remaining: number | null }>;
  /** Stores everything, if the store works. */
  flush(): Promise<void>;
}

interface MonthlyCountOptions {
  store: Store;
  key: string;
  limit: number | null;
  /** Called once each at 80 and 95 percent. */
  onNearlyExhausted: (percent: number) => void;
  onStoreFailed: (reason: string) => void;
  onStoreWorks: () => void;
}

/** Counts the calls to one upstream in one calendar month. */
export function createMonthlyCount(options: MonthlyCountOptions): MonthlyCount {
  const { store, key, limit, onNearlyExhausted, onStoreFailed, onStoreWorks } = options;
  const count = createStoredCount({ store, key, expiresInMs, onStoreFailed, onStoreWorks: renumber });
  const reported = createStoredLimit({ store, key, expiresInMs });
  /** Calls of other processes that joined the count after numbers were given out here. */
  let shift = 0;
  const warnings = [...warningsAtPercent];
  let opening: Promise<void> | null = null;
  let isOpen = false;

  return {
    async reserve() {
      if (!isOpen) await open();
      // Another process may have released calls since: a second look writes nothing.
      if (count.known() >= maxNumber() && (await count.read()) >= maxNumber()) return null;
      const number = await count.add();
      if (number > maxNumber()) {
        count.subtract();
        return null;
      }
      warn();
      return createReservation(number);
    },
    async status() {
      await open();
      const counted = await count.read();
      await reported.read();
      const own = limit === null ? null : Math.max(0, limit - counted);
      const report = reported.current();
      const left = report && remainingCalls(report, counted);
      if (report && left !== null && (own === null || left < own)) {
        return { used: Math.max(counted, report.limit - left), limit: report.limit, remaining: left };
      }
      return { used: counted, limit, remaining: own };
    },
    async flush() {
      if (opening === null) return;
      await opening;
      await Promise.all([count.read(), reported.flush()]);
    },
  };

  /** Only when needed: a gateway that calls no upstream creates no store. */
  function open(): Promise<void> {
    opening ??= readStored();
    return opening;
  }

  async function readStored(): Promise<void> {
    // The count first: the stored limit refers to its numbers.
    await count.read();
    await reported.read();
    isOpen = true;
  }

  /** The highest number that a call may have: the smaller of the configured and the reported limit. */
  function maxNumber(): number {
    const report = reported.current();
    return Math.min(limit ?? Number.POSITIVE_INFINITY, report ? maxCallNumber(report) : Number.POSITIVE_INFINITY);
  }

  /** The count jumped by calls that were counted apart. The upstream knew of those, so what it reported as left stays. */
  function renumber(jump: number): void {
    shift += jump;
    reported.renumber(jump);
    onStoreWorks();
  }

  function createReservation(number: number): Reservation {
    const unshifted = number - shift;
    let isHeld = true;
    return {
      kind: 'reserved',
      release() {
        if (isHeld) count.subtract();
        isHeld = false;
      },
      recordHeaders(headers) {
        const report = readReportedLimit(headers, unshifted + shift);
        if (!report) return;
        reported.record(report);
        warn();
      },
    };
  }

  function warn(): void {
    const report = reported.current();
    const own = limit ? count.known() / limit : 0;
    const upstream = report ? 1 - remainingCalls(report, count.known()) / report.limit : 0;
    while (warnings[0] !== undefined && Math.max(own, upstream) * 100 >= warnings[0]) {
      onNearlyExhausted(warnings[0]);
      warnings.shift();
    }
  }
}

/** Longer than two months, so that the previous month can be looked up. */
const expiresInMs = 93 * 86_400_000;
const warningsAtPercent = [80, 95];
