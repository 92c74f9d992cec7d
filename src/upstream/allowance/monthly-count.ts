import type { Store } from '../../stores/store.ts';
import {
  isProbeDue,
  type LimitStatus,
  maxCallNumber,
  readReportedLimit,
  toLimitStatus,
  usedShare,
} from './reported-limit.ts';
import type { Reservation } from './reservation.ts';
import { createStoredCount } from './stored-count.ts';
import { createStoredLimit } from './stored-limit.ts';
import { createUsageWarnings } from './usage-warnings.ts';

export interface MonthlyCount {
  /** Null if no calls remain. A promise where it waits for the store. */
  reserve(): Reservation | Promise<Reservation | null>;
  status(): Promise<LimitStatus>;
  /** As far as this process knows; null if it is unlimited. */
  remaining(): number | null;
  /** Stores everything, if the store works, and stops reading the count of other processes until the next call. */
  flush(): Promise<void>;
}

interface MonthlyCountOptions {
  store: Store;
  key: string;
  limit: number | null;
  /** Number of processes that share the store; null: it is not shared. */
  replicas: number | null;
  /** How long the count is stored: longer than the period. */
  expiresInMs: number;
  /** Called once at 80 percent and once at 95 percent. */
  onNearlyExhausted: (percent: number) => void;
  onStoreFailed: (reason: string) => void;
  onStoreRecovered: () => void;
}

/** Counts the calls to one upstream in a calendar month or another period, a hundredth of what remains ahead of time. */
export function createMonthlyCount(options: MonthlyCountOptions): MonthlyCount {
  const { store, key, limit, replicas, expiresInMs, onNearlyExhausted, onStoreFailed, onStoreRecovered } = options;
  const shared = { store, key, expiresInMs };
  const count = createStoredCount({
    ...shared,
    replicas,
    // Other processes may have used everything before this one started.
    assumed: replicas === null ? 0 : (limit ?? 0),
    maxBlock: () => Math.floor((maxNumber() - count.current()) / (100 * (replicas ?? 1))),
    onStoreFailed,
    onStoreRecovered: renumber,
  });
  const reported = createStoredLimit(shared);
  const ownLimit = limit ?? Number.POSITIVE_INFINITY;
  /** Calls that other processes counted while the store failed: call numbers given meanwhile are too low by this. */
  let numberOffset = 0;
  const warnings = createUsageWarnings(onNearlyExhausted);
  let loading: Promise<void> | null = null;
  let isLoaded = false;

  return {
    reserve() {
      const number = isLoaded && count.current() < maxNumber() ? count.take() : null;
      if (number === null) return reserveStored();
      warn();
      return createReservation(number, false);
    },
    async status() {
      await load();
      const counted = await count.sync();
      await reported.read();
      return toLimitStatus(counted, limit, reported.current());
    },
    remaining: () => toLimitStatus(count.current(), limit, reported.current()).remaining,
    async flush() {
      if (loading === null) return;
      await loading;
      await Promise.all([count.stop(), reported.flush()]);
    },
  };

  async function reserveStored(): Promise<Reservation | null> {
    if (!isLoaded) await load();
    // Another process may have released calls meanwhile, so the shared count is read before rejecting.
    let isProbe = false;
    if (count.current() >= maxNumber() && (await count.sync()) >= maxNumber()) {
      const report = reported.current();
      if (!report || !isProbeDue(report) || count.current() >= ownLimit) return null;
      isProbe = true;
      reported.setProbedAt(Date.now());
    }
    const number = count.take() ?? (await count.add());
    if (number > (isProbe ? ownLimit : maxNumber())) {
      count.subtract();
      return null;
    }
    warn();
    return createReservation(number, isProbe);
  }

  /** Loads on first use: a gateway that calls no upstream does not create the store. */
  function load(): Promise<void> {
    loading ??= loadStored();
    return loading;
  }

  async function loadStored(): Promise<void> {
    // The count first: the stored limit refers to its numbers.
    await count.sync();
    await reported.read();
    isLoaded = true;
  }

  /** The highest number that a call may have: the smaller of the configured and the reported limit. */
  function maxNumber(): number {
    const report = reported.current();
    return Math.min(ownLimit, report ? maxCallNumber(report) : Number.POSITIVE_INFINITY);
  }

  /** The upstream's report already includes the calls of other processes, so only its call number changes. */
  function renumber(countedElsewhere: number): void {
    numberOffset += countedElsewhere;
    reported.renumber(countedElsewhere);
    onStoreRecovered();
  }

  function createReservation(number: number, isProbe: boolean): Reservation {
    const baseNumber = number - numberOffset;
    let isHeld = true;
    return {
      kind: 'reserved',
      release() {
        if (!isHeld) return;
        isHeld = false;
        count.subtract();
        if (isProbe) reported.setProbedAt(undefined);
      },
      recordAnswer({ status, headers }) {
        const report = readReportedLimit(headers, baseNumber + numberOffset);
        if (report) {
          reported.record(report);
          warn();
        } else if (isProbe && status < 400) reported.discard();
      },
    };
  }

  function warn(): void {
    warnings.check(usedShare(count.current(), ownLimit, reported.current()));
  }
}
