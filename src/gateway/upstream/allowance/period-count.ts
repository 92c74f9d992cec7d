import { answerWithin } from '../../../base/async/pause.ts';
import { beginOfPeriod, nameOfPeriod, type Period, periodAt } from '../../../base/calendar-period.ts';
import type { BudgetedCall, Uncounted } from '../../request-context.ts';
import { type CountAheadOptions, createCountAhead } from '../../stores/count-ahead.ts';
import type { Store } from '../../stores/store.ts';
import { type Answered, type Exhausted, refusalOf } from '../outcome.ts';
import { createReportedLimit, type LimitStatus } from './reported-limit.ts';

export type PeriodCount = ReturnType<typeof createPeriodCount>;

export interface PeriodStatus extends LimitStatus {
  renewsAt: Date;
}

export type Reserved = Reservation | Exhausted | Uncounted;

/** A call that was counted and may be sent. */
export interface Reservation {
  kind: 'reserved';
  /** Only for a call that was definitely not sent, or was refused and recorded as such. Calling it again has no effect. */
  release(): void;
  /** Records the rate limit that the response to the call reports, if it does. */
  recordAnswer(answer: Pick<Answered, 'status' | 'fault' | 'headers'>): void;
}

export interface CountOptions
  extends Required<Pick<CountAheadOptions, 'key' | 'replicas' | 'onStoreFailed' | 'onRestored'>> {
  store: Store;
  unit?: CountAheadOptions['unit'];
  /** Null: unlimited. */
  limit: number | null;
  /** How long a call waits for the store while many are left; null: until it is stored, or the store has failed. */
  maxWaitMs: number | null;
  /** Called once at 80 percent and once at 95 percent. */
  onNearlyExhausted?: (percent: number) => void;
  onStoreRecovered: () => void;
}

/**
 * The calls of the present calendar day or month (UTC). A new count begins with each period; the reservations of the previous one
 * still belong to that.
 */
export function createPeriodCount({ period, key, ...options }: CountOptions & { period: Period }) {
  let current = openPeriod(periodAt(period, Date.now()));

  return {
    /**
     * Counts a call. A promise where it waits for the store. If the store works in time, the count is stored before this returns
     * or resolves: a crash does not make it too low.
     */
    reserve: () => currentCount().reserve(),
    /** Why a call would be refused now; null if it would be counted. Counts nothing. */
    findRefusal: () => currentCount().findRefusal(),
    /** Null while the count is not known. */
    status: () => currentCount().status(),
    /** What this process knows without the store; null if it has not read it yet. */
    known: () => currentCount().known(),
    /** Changes the stored count, for all processes. @param change its new value, from the present one @throws StoreError */
    correct: (change: (counted: number) => number) => currentCount().correct(change),
    /** Stores everything, if the store works, and stops reading the count of other processes until the next call. */
    flush: () => current.flush(),
  };

  /** Never goes back, even if the clock does: the remaining calls of the previous period must not become available. */
  function currentCount() {
    if (Date.now() >= current.renewsAt().getTime()) {
      void current.flush();
      current = openPeriod(periodAt(period, Date.now()));
    }
    return current;
  }

  function openPeriod(number: number) {
    const nameKey = (ofNumber: number) => `${key}:${nameOfPeriod(period, ofNumber)}`;
    return createCount({
      ...options,
      key: nameKey(number),
      // A day is not worth a read: its budget would be available again after a few days anyway.
      later: period === 'day' ? null : { key: nameKey(number + 1), renewsAt: beginOfPeriod(period, number + 2) },
      expiresInMs: period === 'day' ? dayExpiryMs : monthExpiryMs,
      renewsAt: beginOfPeriod(period, number + 1),
    });
  }
}

/** Longer than the period: the clocks of processes may differ, and the previous month can be looked up. */
const dayExpiryMs = 3 * 86_400_000;
const monthExpiryMs = 93 * 86_400_000;

/** With fewer, each call waits for a write, and the count is exact. */
const minPerSecond = 10;
/** A block has the calls of half a second. With a tenth, there would be 10 disk flushes per second at low traffic. */
const blockS = 0.5;
/** With 1,000, a gateway under full load would flush the disk 27 times per second. */
const largestBlock = 10_000;

export const uncounted: Uncounted = { kind: 'uncounted' };

/** Counts a call in a further count, too. If that refuses it, it is counted in none. */
export async function reserveToo<Result extends BudgetedCall | Reserved>(
  counted: { release(): void },
  reserving: Result | Promise<Result>,
): Promise<Result> {
  const reserved = await reserving;
  if (reserved.kind !== 'reserved') {
    counted.release();
    return reserved;
  }
  const release = () => {
    counted.release();
    reserved.release();
  };
  return { ...reserved, release };
}

interface PeriodCountOptions extends CountOptions {
  expiresInMs: number;
  renewsAt: Date;
  /** The next period. If it has a count already, that one is used. */
  later: { key: string; renewsAt: Date } | null;
}

/** The count of one period; up to a hundredth of what remains is counted ahead of time, in blocks. */
function createCount(options: PeriodCountOptions) {
  const { store, limit, replicas, expiresInMs, later, maxWaitMs, unit, ...others } = options;
  const { onNearlyExhausted, onStoreFailed, onStoreRecovered, onRestored } = others;
  let { key, renewsAt } = options;
  let exhausted: Exhausted = { kind: 'exhausted', renewsAt };
  let count = openCount();
  let reported = createReportedLimit(store, key, { expiresInMs });
  const ownLimit = limit ?? Number.POSITIVE_INFINITY;
  /** Calls that other processes counted while the store failed: call numbers given meanwhile are too low by this. */
  let numberOffset = 0;
  const pendingWarnings = [80, 95, 100];
  let loading: Promise<void> | null = null;
  let isLoading = false;
  let isLoaded = false;

  return {
    renewsAt: () => renewsAt,
    reserve(): Reserved | Promise<Reserved> {
      const number = isLoaded && count.current() < maxNumber() ? count.take() : null;
      if (number === null)
        return maxWaitMs !== null && isLoaded && blockSize() > 0 ? reserveSoon(maxWaitMs) : reserveStored();
      warn();
      return createReservation(number, false);
    },
    async findRefusal(): Promise<Exhausted | Uncounted | null> {
      if (!isLoaded) await load();
      if (!isLoaded) return uncounted;
      const isLeft = count.current() < maxNumber() || (await count.sync()) < maxNumber() || mayProbe();
      return isLeft ? null : exhausted;
    },
    async status(): Promise<PeriodStatus | null> {
      await load();
      if (!isLoaded) return null;
      const counted = await count.sync();
      if (!isLoaded) return null;
      await reported.read();
      return { ...reported.status(counted, limit), renewsAt };
    },
    known: () => (isLoaded ? { ...reported.status(count.current(), limit), renewsAt } : null),
    async correct(change: (counted: number) => number): Promise<{ from: number; to: number }> {
      await load();
      const { sum: from } = await store.add(key, 0, { expiresInMs });
      const to = change(from);
      await store.add(key, to - from, { expiresInMs });
      return { from, to };
    },
    async flush(): Promise<void> {
      if (loading === null) return;
      await loading;
      await Promise.all([count.stop(), reported.flush()]);
    },
  };

  async function hasBegun(key: string): Promise<boolean> {
    const counted = await store.add(key, 0, { expiresInMs }).catch(() => null);
    return counted !== null && counted.sum > 0;
  }

  function openCount() {
    return createCountAhead({
      store,
      key,
      expiresInMs,
      replicas,
      unit,
      blockSize,
      onStoreFailed(reason) {
        if (hasNoShare()) isLoaded = false;
        onStoreFailed(reason);
      },
      onStoreRecovered: renumber,
      onRestored,
    });
  }

  /** A call that is not stored in time is counted in memory already, and is stored later. */
  async function reserveSoon(maxWaitMs: number): Promise<Reserved> {
    const storing = reserveStored();
    const stored = await answerWithin(storing, maxWaitMs);
    if (stored !== undefined) return stored;
    // Meanwhile, other processes may have used all that was left. This call is made nevertheless, so it counts.
    const late = storing.then(async (reserved) =>
      reserved.kind === 'reserved' ? reserved : createReservation(await count.add(), false),
    );
    return {
      kind: 'reserved',
      release: () => void late.then((reservation) => reservation.release()),
      recordAnswer: (answer) => void late.then((reservation) => reservation.recordAnswer(answer)),
    };
  }

  async function reserveStored(): Promise<Reserved> {
    if (!isLoaded) await load();
    if (!isLoaded) return uncounted;
    // Another process may have released calls meanwhile, so the shared count is read before rejecting.
    let isProbe = false;
    if (count.current() >= maxNumber() && (await count.sync()) >= maxNumber()) {
      if (!mayProbe()) return exhausted;
      isProbe = true;
      reported.setProbedAt(Date.now());
    }
    const number = count.take() ?? (await count.add());
    if (!isLoaded) {
      count.subtract();
      return uncounted;
    }
    if (number > (isProbe ? ownLimit : maxNumber())) {
      count.subtract();
      return exhausted;
    }
    warn();
    return createReservation(number, isProbe);
  }

  function mayProbe(): boolean {
    return reported.isProbeDue() && count.current() < ownLimit;
  }

  /** Loads on first use: a gateway that calls no upstream does not create the store. */
  async function load(): Promise<void> {
    if (isLoaded) return;
    loading = isLoading && loading ? loading : loadStored();
    await loading;
  }

  async function loadStored(): Promise<void> {
    isLoading = true;
    // The clock was set back since, or that of another gateway is ahead.
    if (later !== null && !count.isRead() && (await hasBegun(later.key))) {
      ({ key, renewsAt } = later);
      exhausted = { kind: 'exhausted', renewsAt };
      count = openCount();
      reported = createReportedLimit(store, key, { expiresInMs });
    }
    // The count first: the stored limit refers to its numbers.
    await count.sync();
    await reported.read();
    // Other processes may have used everything before this one started.
    isLoaded = limit === null || replicas === null || (hasNoShare() ? count.isStored() : count.isRead());
    isLoading = false;
  }

  /** The others may not have counted this gateway yet, and would use what it uses. */
  function hasNoShare(): boolean {
    return limit !== null && replicas?.() === Number.POSITIVE_INFINITY;
  }

  /** The highest number that a call may have: the smaller of the configured and the reported limit. */
  function maxNumber(): number {
    return Math.min(ownLimit, reported.maxCallNumber());
  }

  /** The largest block for this number of calls in a second. 0 near the end of the allowance, so that it is exact. */
  function blockSize(perSecond = Number.POSITIVE_INFINITY): number {
    if (perSecond < minPerSecond) return 0;
    const left = maxNumber() - count.current();
    // Both may be infinite: without a limit, and while it is not known how many gateways share it.
    const share = Number.isFinite(left) ? left / (100 * (replicas?.() ?? 1)) : left;
    return Math.floor(Math.min(perSecond * blockS, largestBlock, share));
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
    let isAnswered = false;
    return {
      kind: 'reserved',
      release() {
        if (!isHeld) return;
        isHeld = false;
        count.subtract();
        if (isProbe && !isAnswered) reported.setProbedAt(undefined);
      },
      recordAnswer(answer) {
        isAnswered = true;
        const isRefused = refusalOf(answer) !== null;
        // A refused call is given back, so that the next one has its number.
        if (reported.record(answer.headers, baseNumber + numberOffset - (isRefused ? 1 : 0))) warn();
        else if (isProbe && answer.status < 400 && !isRefused) reported.discard();
      },
    };
  }

  function warn(): void {
    const usedPercent = reported.usedShare(count.current(), ownLimit) * 100;
    while (pendingWarnings[0] !== undefined && usedPercent >= pendingWarnings[0]) {
      onNearlyExhausted?.(pendingWarnings[0]);
      pendingWarnings.shift();
    }
  }
}
