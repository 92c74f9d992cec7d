import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { pause } from '../../../base/async/pause.ts';
import type { Signal } from '../../../base/async/signal.ts';
import type { OpenedStore } from '../../stores/open-store.ts';
import { getOrCreate, StoreError } from '../../stores/store.ts';
import { parseRecord } from './order-record.ts';

interface ProcessLeaseOptions extends Pick<OpenedStore, 'store' | 'isShared'> {
  /** How long orders are stored. */
  keepMs: number;
  skipUnreadable: (error: unknown) => null;
}

/** A process that has stopped, or stops, with the orders that it had. */
export interface StoppedProcess {
  id: string;
  /** Whether it still completes what it has sent. */
  isStopping: boolean;
  /** The orders that it has started and not ended, the waiting ones first. */
  names: readonly OrderName[];
  /** Call it when its orders run in other processes, or have ended. */
  forget(): Promise<void>;
}

export type ProcessLease = ReturnType<typeof createProcessLease>;

/**
 * Shows other processes that this one runs its orders, by one entry in the store that it renews every second, and finds the processes
 * that do not do so any more. Functions throw StoreError.
 */
export function createProcessLease({ store, isShared, keepMs, skipUnreadable }: ProcessLeaseOptions) {
  const id = randomUUID();
  const ownKey = toLeaseKey(id);
  const seen = new Map<string, SeenLease>();
  let renewals = 0;
  /** By `performance.now()`. */
  let renewedAt = Number.NEGATIVE_INFINITY;
  /** Its list of orders, as `Listed.list`. Null: it has had none, or others may have forgotten it. */
  let ownList: Promise<string> | null = null;
  /** The orders as they were last written. */
  let written = '[]';
  let settledAt = 0;
  let lostAt = Number.NEGATIVE_INFINITY;
  let losses = 0;
  /** The stored marker, which is lost with all other data; null until it was read. */
  let marker: string | null = null;
  // Read at the start, so that the first order of a new store rarely waits, and a later loss is noticed.
  if (isShared) void checkMarker().catch(() => {});

  return {
    id,
    renew,
    checkMarker,
    /** The store works again, and may have lost what was written last: others first write it again. */
    unsettle(): void {
      lostAt = performance.now();
      settledAt = lostAt + settleMs;
    },
    /** How often the store has lost its data. Then the orders of this process must be written again. */
    losses: () => losses,
    /** Whether the store may have lost what was stored at this time, by `performance.now()`. */
    async mayHaveLost(storedAt: number): Promise<boolean> {
      await checkMarker();
      return lostAt >= storedAt;
    },
    settle,
    isAlive,
    findStopped,
    /** As another process has last shown them. */
    async namesOf(process: string): Promise<readonly OrderName[]> {
      const { list } = await look(process);
      return list === null ? [] : readNames(list);
    },
    /** @param names of orders that are left to others */
    async end(names: readonly OrderName[]): Promise<void> {
      if (renewals === 0) return;
      await renew(names, 'ended');
      if (names.length === 0 && ownList) await forget(await ownList, id);
      forgetList();
    },
  };

  /** @param names of the orders that other processes continue if this one stops */
  async function renew(names: readonly OrderName[], phase: Lease['phase']): Promise<void> {
    const text = JSON.stringify(names);
    // Other processes may have continued its orders, and have forgotten it.
    if (ownList !== null && performance.now() - renewedAt > leaseMs / 2) forgetList();
    try {
      if (text !== written) {
        written = text;
        if (ownList !== null) await store.set(toNamesKey(await ownList), text, { expiresInMs: keepMs });
        ownList ??= addList(text).catch((error) => {
          ownList = null;
          throw error;
        });
      }
      renewals += 1;
      const lease: Lease = { renewals, phase, list: ownList && (await ownList) };
      const beganAt = performance.now();
      await store.set(ownKey, JSON.stringify(lease), { expiresInMs: leaseMs });
      renewedAt = beganAt;
    } catch (error) {
      written = 'unknown';
      throw error;
    }
  }

  /** The next renewal stores its orders under another list. */
  function forgetList(): void {
    ownList = null;
    written = '[]';
  }

  /** Notices whether the store has lost its data. */
  async function checkMarker(): Promise<void> {
    if (!isShared) return;
    const own = randomUUID();
    const stored = await store.get(markerKey).catch((error) => removeUnreadable(markerKey, error));
    const found = stored ?? (await getOrCreate(store, markerKey, own, { expiresInMs: markerMs }));
    const isNew = found === own || (marker !== null && marker !== found);
    const isLost = isNew && marker !== null;
    marker = found;
    if (isNew) settledAt = performance.now() + settleMs;
    if (isLost) {
      lostAt = performance.now();
      losses += 1;
      forgetList();
    }
  }

  /** For an entry that outlives the secret with which it was sealed: all orders would be refused for a year. @throws other errors */
  async function removeUnreadable(key: string, error: unknown): Promise<null> {
    skipUnreadable(error);
    await store.delete(key);
    return null;
  }

  /** Waits until all processes have written again what the store may have lost. @throws the signal's reason */
  async function settle(signal: Signal): Promise<void> {
    const givesUpAt = performance.now() + 2 * settleMs;
    await checkMarker();
    while (performance.now() < settledAt) {
      // It fails again and again.
      if (performance.now() > givesUpAt) throw new StoreError('the connection is not stable');
      await pause(settledAt - performance.now(), signal);
      await checkMarker();
    }
  }

  /** Whether a process still runs its orders. */
  async function isAlive(process: string): Promise<boolean> {
    if (process === id) return true;
    const { phase, renewedAt, missingSince } = await look(process);
    if (phase === 'ended') return false;
    const now = performance.now();
    // A Redis that was down has lost leases, and a clock that is set back keeps them.
    const isMissing = missingSince !== null && (!isShared || now - missingSince >= missingMs);
    return now < settledAt || (now - renewedAt < leaseMs && !isMissing);
  }

  async function look(process: string): Promise<SeenLease> {
    const text = await store.get(toLeaseKey(process));
    const lease = text === null ? null : readLease(text);
    const now = performance.now();
    const before = seen.get(process) ?? noLease(now);
    const isRenewed = lease !== null && lease.renewals !== before.renewals;
    const latest = isRenewed ? { ...lease, renewedAt: now } : before;
    const missingSince = lease === null ? (before.missingSince ?? now) : null;
    seen.set(process, { ...latest, missingSince });
    return { ...latest, missingSince };
  }

  /** The processes whose orders may be continued. */
  async function findStopped(): Promise<StoppedProcess[]> {
    const ownBefore = await ownList;
    const { listed } = await readListed();
    // The stored list of processes was damaged.
    if (ownBefore !== null && !listed.some(({ list }) => list === ownBefore)) forgetList();
    const stopped = await Promise.all(
      listed.map(async ({ process, list }): Promise<StoppedProcess | null> => {
        const isRunning = await isAlive(process);
        const isStopping = isRunning && process !== id && seen.get(process)?.phase === 'stopping';
        if (isRunning && !isStopping) return null;
        return { id: process, isStopping, names: await readNames(list), forget: () => forget(list, process) };
      }),
    );
    return stopped.filter((process) => process !== null);
  }

  /** Adds a list of this process, in place of a former one. */
  async function addList(text: string): Promise<string> {
    const list = randomUUID();
    renewedAt = performance.now();
    await store.set(toNamesKey(list), text, { expiresInMs: keepMs });
    let former: readonly Listed[] = [];
    await changeListed((listed) => {
      former = listed.filter(({ process }) => process === id);
      return [...listed.filter(({ process }) => process !== id), { process: id, list }];
    });
    await Promise.all(former.map(({ list }) => store.delete(toNamesKey(list))));
    return list;
  }

  async function changeListed(change: (listed: readonly Listed[]) => readonly Listed[]): Promise<void> {
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const { text, listed } = await readListed();
      const next = JSON.stringify(change(listed));
      if (await store.replace(listedKey, text, next, { expiresInMs: markerMs })) return;
    }
    throw new StoreError('other processes keep changing the list of processes');
  }

  async function readListed(): Promise<{ text: string | null; listed: readonly Listed[] }> {
    const text = await store.get(listedKey).catch((error) => removeUnreadable(listedKey, error));
    try {
      return { text, listed: parseRecord(listedSchema, text) ?? [] };
    } catch (error) {
      skipUnreadable(error);
      return { text, listed: [] };
    }
  }

  async function readNames(list: string): Promise<readonly OrderName[]> {
    return parseRecord(orderNames, await store.get(toNamesKey(list)).catch(skipUnreadable)) ?? [];
  }

  async function forget(list: string, process: string): Promise<void> {
    seen.delete(process);
    await changeListed((listed) => listed.filter((other) => other.list !== list));
    await store.delete(toNamesKey(list));
  }
}

/** A process that has, or has had, orders. A process that stood still may be listed twice. */
type Listed = z.infer<typeof listedSchema>[number];
const listedSchema = z.array(
  z.object({
    process: z.string(),
    /** Under which its orders are stored. */
    list: z.string(),
  }),
);

export type OrderName = z.infer<typeof orderNames>[number];
const orderNames = z.array(z.object({ id: z.string(), callerId: z.string() }));

type Lease = z.infer<typeof leaseSchema>;
const leaseSchema = z.object({
  /** If it does not change, the process has stopped, whatever the clock says. */
  renewals: z.number(),
  /** `stopping`: it completes what it has sent, and leaves the rest. */
  phase: z.enum(['running', 'stopping', 'ended']),
  /** As `Listed.list`; null: it has had no orders. */
  list: z.string().nullable(),
});

/** One that cannot be read is of a later version, whose process runs. */
function readLease(text: string): Lease {
  try {
    return leaseSchema.parse(JSON.parse(text));
  } catch {
    return { renewals: Number.NaN, phase: 'running', list: null };
  }
}

/** The last lease of another process. Times are by `performance.now()`. */
interface SeenLease extends Omit<Lease, 'renewals'> {
  renewals: number | null;
  /** When it was first seen. */
  renewedAt: number;
  /** Since when it is not in the store; null: it is. */
  missingSince: number | null;
}

/** After this time without a renewal, other processes continue the orders of a process. */
export const leaseMs = 8_000;
/** Without a lease. Longer than a live process takes for one more, after a Redis that was down. */
const missingMs = 1_500;
/** Longer than the longest pause before another process reconnects to Redis. */
const settleMs = 3_000;
export const markerKey = 'essay-store-marker';
/** A year. When it expires, and when a store is used for the first time, orders wait once for `settleMs`. */
export const markerMs = 365 * 86_400_000;
const listedKey = 'essay-processes';
/** Processes begin and end now and then. */
const maxAttempts = 20;

function toLeaseKey(process: string): string {
  return `essay-process:${process}`;
}

function toNamesKey(list: string): string {
  return `essay-process-orders:${list}`;
}

function noLease(now: number): SeenLease {
  return { renewals: null, phase: 'running', list: null, renewedAt: now, missingSince: null };
}
