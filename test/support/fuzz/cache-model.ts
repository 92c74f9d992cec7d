import type { CacheEntry } from '../../../src/gateway/bank-data/shared-cache.ts';

/* What the look-up cache does, in the simplest way: everything happens at once, and entries have the same size. */

export const hour = 3_600_000;
export const day = 24 * hour;

export type Code = 'UPSTREAM_FAILED' | 'UPSTREAM_UNAVAILABLE' | 'BUDGET_EXHAUSTED';

export interface CacheOptions {
  maxEntries: number;
  maxConcurrency: number;
  isShared: boolean;
  hasVersion: boolean;
}

export interface ModelFind {
  key: string;
  callerId: string;
  /** Null while it waits; 'any': an answer or that its client has left. */
  result: string | null;
  isAgain: boolean;
}

interface ModelFlight {
  key: string;
  startedBy: ModelFind;
  waiting: ModelFind[];
  /** What the shared cache had when it was started. */
  shared: CacheEntry | null;
  /** The version of the data when it was started: its answer may be of it. */
  version: string | null;
  isSent: boolean;
  /** All clients have left while it was sent. */
  isLeft: boolean;
  isAborted: boolean;
}

/** @param count called with the name of each event */
export function createCacheModel(
  { maxEntries, maxConcurrency, isShared, hasVersion }: CacheOptions,
  count: (event: string) => void,
) {
  let versions = 1;
  let serial = 0;
  /** The least recently used first. */
  const entries = new Map<string, CacheEntry>();
  const shared = new Map<string, CacheEntry>();
  const flights = new Map<string, ModelFlight>();
  /** Calls without an answer, in the order in which they were started. */
  const running: ModelFlight[] = [];
  const finds: ModelFind[] = [];
  const version = () => (hasVersion ? String(versions) : null);

  return { entries, shared, running, finds, version, createAnswer, find, answer, fail, leave, race, send, change };

  function createAnswer(key: string, isNegative: boolean): CacheEntry['answer'] {
    serial += 1;
    return { key, serial, isNegative };
  }

  function find({ key, callerId }: Pick<ModelFind, 'key' | 'callerId'>): void {
    const one: ModelFind = { key, callerId, result: null, isAgain: false };
    finds.push(one);
    start(one);
  }

  function start(one: ModelFind): void {
    const cached = use(one.key);
    const now = Date.now();
    const known = flights.get(one.key);
    const flight = known?.isAborted === false ? known : null;
    if (cached && now <= cached.freshUntil) {
      count('fresh');
      one.result = describe(cached);
    } else if (cached && now <= cached.staleUntil) {
      count('stale');
      one.result = describe(cached);
      if (flight === null && flights.size < maxConcurrency) startFlight(one, []);
      else count('not revalidated');
    } else if (flight !== null) {
      count('joined');
      flight.waiting.push(one);
    } else {
      startFlight(one, [one]);
    }
  }

  function startFlight(startedBy: ModelFind, waiting: ModelFind[]): void {
    const { key } = startedBy;
    const stored = isShared ? (shared.get(key) ?? null) : null;
    const flags = { isSent: false, isLeft: false, isAborted: false };
    const flight: ModelFlight = { key, startedBy, waiting, shared: stored, version: version(), ...flags };
    flights.set(key, flight);
    if (stored?.version === version() && Date.now() <= stored.freshUntil) {
      count('found in the shared cache');
      finish(flight, stored, true);
    } else {
      running.push(flight);
    }
  }

  function answer(flight: ModelFlight, answer: CacheEntry['answer']): void {
    endCall(flight);
    const now = Date.now();
    const freshUntil = now + (answer.isNegative ? hour : day);
    const staleUntil = answer.isNegative ? freshUntil : now + 30 * day;
    const entry = { answer, freshUntil, staleUntil, version: flight.version };
    if (isShared) shared.set(flight.key, entry);
    finish(flight, entry, false);
  }

  function fail(flight: ModelFlight, code: Code): void {
    endCall(flight);
    const { key, startedBy, waiting, shared: stored } = flight;
    const isOutdated = hasVersion && stored?.version !== version();
    if (stored && !isOutdated && Date.now() <= stored.staleUntil) {
      count('stale in the shared cache');
      finish(flight, stored, true);
      return;
    }
    if (flights.get(key) === flight) flights.delete(key);
    for (const one of waiting) {
      const isOthersBudget = code === 'BUDGET_EXHAUSTED' && one.callerId !== startedBy.callerId;
      const isOthersWait = code === 'UPSTREAM_UNAVAILABLE' && one !== startedBy && !one.isAgain;
      if (!isOthersBudget && !isOthersWait) {
        count('failed');
        one.result = code;
        continue;
      }
      count('started again');
      one.isAgain = true;
      start(one);
    }
  }

  function endCall(flight: ModelFlight): void {
    running.splice(running.indexOf(flight), 1);
  }

  function finish({ key, waiting }: ModelFlight, entry: CacheEntry, isHit: boolean): void {
    const isCurrent = flights.get(key)?.waiting === waiting;
    const isNewest = !isHit || (use(key)?.freshUntil ?? 0) <= entry.freshUntil;
    if (!isNewest) count('older than in memory');
    if (entry.version !== version()) count('of an earlier version');
    if (isCurrent && isNewest && entry.version === version()) set(key, entry);
    if (isCurrent) flights.delete(key);
    else count('replaced');
    for (const one of waiting) one.result = describe(entry);
  }

  function leave(one: ModelFind): void {
    one.result = 'left';
    for (const flight of running) {
      if (!flight.waiting.includes(one)) continue;
      flight.waiting.splice(flight.waiting.indexOf(one), 1);
      if (flight.waiting.length > 0) count('left others');
      else if (flight.isSent) flight.isLeft = true;
      else abort(flight);
    }
  }

  function abort(flight: ModelFlight): void {
    count('aborted');
    flight.isAborted = true;
  }

  /** The flight is answered, and all clients leave at any time meanwhile. */
  function race(flight: ModelFlight, value: CacheEntry['answer']): void {
    const racing = [...flight.waiting];
    answer(flight, value);
    for (const one of racing) one.result = 'any';
    for (const one of finds) if (one.result === null) leave(one);
    if (racing.length > 0) count('raced');
  }

  function send(flight: ModelFlight): void {
    flight.isSent = !flight.isSent;
    if (!flight.isSent && flight.isLeft && flight.waiting.length === 0 && !flight.isAborted) abort(flight);
  }

  function change(): void {
    versions += 1;
    if (!hasVersion) return;
    count('changed');
    entries.clear();
  }

  /** The entry becomes the most recently used one. */
  function use(key: string): CacheEntry | null {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    entries.delete(key);
    entries.set(key, entry);
    return entry;
  }

  function set(key: string, entry: CacheEntry): void {
    entries.delete(key);
    entries.set(key, entry);
    if (entries.size <= maxEntries) return;
    count('evicted');
    const [oldest] = entries.keys();
    if (oldest !== undefined) entries.delete(oldest);
  }
}

function describe({ answer: { key, serial } }: CacheEntry): string {
  return `${key}${serial}`;
}
