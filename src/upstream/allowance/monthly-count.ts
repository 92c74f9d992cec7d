import type { Store } from '../../stores/store.ts';
import type { Answered } from '../operation.ts';
import {
  maxCallNumber,
  type ReportedLimit,
  readReportedLimit,
  readStoredLimit,
  remainingCalls,
} from './reported-limit.ts';
import { createStoredCount } from './stored-count.ts';

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
export function createMonthlyCount({
  store,
  key,
  limit,
  onNearlyExhausted,
  onStoreFailed,
  onStoreWorks,
}: MonthlyCountOptions): MonthlyCount {
  const count = createStoredCount({ store, key, expiresInMs, onStoreFailed, onStoreWorks: renumber });
  /** Calls of other processes that joined the count after numbers were given out here. */
  let shift = 0;
  let reported: ReportedLimit | null = null;
  let saved: ReportedLimit | null = null;
  const warnings = [...warningsAtPercent];
  let opening: Promise<void> | null = null;

  return {
    async reserve() {
      await open();
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
      await readSaved();
      const own = limit === null ? null : Math.max(0, limit - counted);
      const left = reported && remainingCalls(reported, counted);
      if (reported && left !== null && (own === null || left < own)) {
        return { used: Math.max(counted, reported.limit - left), limit: reported.limit, remaining: left };
      }
      return { used: counted, limit, remaining: own };
    },
    async flush() {
      if (opening === null) return;
      await opening;
      await Promise.all([count.read(), reported === saved || save()]);
    },
  };

  /** Only when needed: a gateway that calls no upstream creates no store. */
  function open(): Promise<void> {
    // The count first: the stored limit refers to its numbers.
    opening ??= count.read().then(readSaved);
    return opening;
  }

  /** The highest number that a call may have: the smaller of the configured and the reported limit. */
  function maxNumber(): number {
    return Math.min(limit ?? Number.POSITIVE_INFINITY, reported ? maxCallNumber(reported) : Number.POSITIVE_INFINITY);
  }

  /** The count jumped by calls that were counted apart. The upstream knew of those, so what it reported as left stays. */
  function renumber(jump: number): void {
    shift += jump;
    if (reported) reported = { ...reported, number: reported.number + jump };
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
        const latest = readReportedLimit(headers, unshifted + shift);
        // Responses overtake each other; the one to the latest call is the most recent.
        if (!latest || (reported && latest.number < reported.number)) return;
        reported = latest;
        warn();
        if (isWorthSaving(latest, saved)) void save();
      },
    };
  }

  function warn(): void {
    const shares = [
      limit ? count.known() / limit : 0,
      reported ? 1 - remainingCalls(reported, count.known()) / reported.limit : 0,
    ];
    while (warnings[0] !== undefined && Math.max(...shares) * 100 >= warnings[0]) {
      onNearlyExhausted(warnings[0]);
      warnings.shift();
    }
  }

  async function readSaved(): Promise<void> {
    // Without the store, the limit that was reported to this process counts.
    const stored = readStoredLimit(await store.get(key).catch(() => null));
    if (!stored || (reported && stored.number <= reported.number)) return;
    reported = stored;
    saved = stored;
  }

  async function save(): Promise<void> {
    saved = reported;
    await store.set(key, JSON.stringify(reported), { expiresInMs }).catch(() => {});
  }
}

/** Longer than two months, so that the previous month can be looked up. */
const expiresInMs = 93 * 86_400_000;
const warningsAtPercent = [80, 95];
const saveIntervalMs = 60_000;

/** Later calls are in the count, so it is enough to save once a minute, and at once when nothing is left. */
function isWorthSaving(latest: ReportedLimit, saved: ReportedLimit | null): boolean {
  if (!saved || latest.limit !== saved.limit || latest.reportedAt - saved.reportedAt >= saveIntervalMs) return true;
  return latest.remaining === 0 && saved.remaining > 0;
}
