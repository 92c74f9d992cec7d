import { LRUCache } from 'lru-cache';
import { AbortableSignal } from '../../base/async/signal.ts';
import { GatewayError } from '../../base/errors.ts';
import { bytesOf } from '../../base/parse-json.ts';
import { type RequestContext, UpstreamActivity } from '../request-context.ts';
import { type CallCause, type Events, ignore } from '../telemetry/events.ts';
import type { CacheStatus } from '../telemetry/metrics/exposition.ts';
import type { Batch } from '../upstream/batch.ts';
import type { UpstreamClient } from '../upstream/upstream-client.ts';
import { type Found, notKept } from './bank-data.ts';
import { type Epochs, oneEpoch } from './epochs.ts';
import type { LookUp } from './rest/rest-bank-data.ts';
import type { CacheEntry, SharedCache } from './shared-cache.ts';

/** Look-ups of one request, which the cache may answer. */
interface LookUps<Answer> {
  /** Before an input, its key. */
  prefix: string;
  /** Each once. */
  inputs: readonly string[];
  context: RequestContext;
  /** The answer that needs no look-up; null if it does. */
  answerLocally?: (input: string) => Answer | null;
  /** If it fails, nothing is cached, and a stale answer is served if there is one. */
  lookUp: LookUp<Answer>;
  /** Whether the answer has the shorter time to live of a negative answer. */
  isNegative(answer: NoInfer<Answer>): boolean;
  /** Calls that one of them may make, without retries; 1 unless stated. */
  maxCalls?: number;
}

interface LookUpCacheOptions {
  /** The look-ups of a request that the cache does not answer are calls with one deadline. */
  client: Pick<UpstreamClient, 'open'>;
  freshMs: number;
  /** Maximum age of a served answer. After `freshMs` it is served only while it is revalidated or the service fails. */
  maxAgeMs: number;
  maxBytes: number;
  /** Calls to the service at a time. */
  maxConcurrency: number;
  sharedCache?: SharedCache | null;
  events: Pick<Events, 'flightJoined'>;
  random?: () => number;
  /** Answers of earlier ones are not used. */
  epochs?: Epochs;
}

/** A key without an answer in memory. */
interface Missing {
  key: string;
  input: string;
  /** Its place among the inputs. */
  index: number;
  /** Why it is looked up. */
  cause: CallCause;
}

/** The missing answers of a request. As many as there may be calls are looked up at a time; the others wait as their keys only. */
interface Search {
  lookUps: LookUps<object>;
  missing: readonly Missing[];
  found: Found<object>[];
  /** What the shared cache has, in the order of the missing ones. */
  shared: readonly (CacheEntry | null)[];
  batch: Batch;
  next: number;
  running: number;
  left: number;
  isStepping: boolean;
  /** All were found, or the client has left. */
  isOver: boolean;
  resolve(found: Found<object>[]): void;
  /** The client has left. */
  leave(): void;
}

/** A search that waits for the call of another one. */
interface Waiting {
  search: Search;
  missing: Missing;
  /** Whether it has waited for another call before. */
  isAgain: boolean;
}

export type LookUpCache = ReturnType<typeof createLookUpCache>;

/** Look-ups in memory, bounded in bytes: stale while revalidate, stale if error, one flight per key. */
export function createLookUpCache({
  client,
  freshMs,
  maxAgeMs,
  maxBytes,
  maxConcurrency,
  sharedCache = null,
  events,
  random = Math.random,
  epochs = oneEpoch,
}: LookUpCacheOptions) {
  /** The least recently used ones are removed. */
  const entries = new LRUCache<string, CacheEntry>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer }, key) => bytesPerEntry + 2 * key.length + bytesOf(answer),
  });
  /**
   * The calls in progress, by key, with the searches of other requests that wait for them. A Map that has grown or shrunk keeps what was
   * in it before until the next full garbage collection: a list is emptied when its call ends.
   */
  const flights = new Map<string, Waiting[]>();
  const revalidating = new Set<string>();
  /** Replicas refresh what they share at different times: the first one pays, and the others find its answer. */
  const offsetMs = sharedCache === null ? 0 : (2 * random() - 1) * Math.min(freshMs / 10, maxOffsetMs);

  return { findAll, quote, status: (): CacheStatus => ({ entries: entries.size, bytes: entries.calculatedSize }) };

  /**
   * The cached answers, and those looked up, in the order of the inputs. Stale answers are found at once while one flight for each
   * revalidates it. Rejects when the client leaves.
   */
  function findAll<Answer extends object>(lookUps: LookUps<Answer>): Promise<readonly Found<Answer>[]> {
    const { prefix, inputs, context, answerLocally } = lookUps;
    if (context.signal.aborted) return Promise.reject(context.signal.reason);
    const found: Found<Answer>[] = new Array(inputs.length);
    const missing: Missing[] = [];
    const stale: Missing[] = [];
    const now = Date.now();
    for (const [index, input] of inputs.entries()) {
      const local = answerLocally?.(input) ?? null;
      if (local !== null) {
        found[index] = local;
        continue;
      }
      context.usage.lookUps += 1;
      const key = prefix + input;
      const cached = getEntry(key);
      if (cached === null || (now > cached.freshUntil && now > cached.staleUntil)) {
        missing.push({ key, input, index, cause: cached === null ? 'new' : 'expired' });
        continue;
      }
      // Only while calls are free, so that it does not delay look-ups for which clients wait.
      const mayRevalidate = flights.size < maxConcurrency && revalidating.size < maxConcurrency && !flights.has(key);
      if (now > cached.freshUntil && mayRevalidate && !revalidating.has(key)) {
        revalidating.add(key);
        stale.push({ key, input, index, cause: 'revalidation' });
      }
      found[index] = use(cached, true, context) as Answer;
    }
    if (stale.length > 0) revalidate(stale, lookUps);
    if (missing.length === 0) return Promise.resolve(found);
    return new Promise((resolve, reject) => search(missing, lookUps, found, resolve, reject));
  }

  /**
   * How many calls these look-ups would make now, without making one. What is in flight needs none; a stale answer needs one, which
   * revalidates it. An answer that is not kept is an Error.
   */
  async function quote<Answer extends object>(lookUps: LookUps<Answer>) {
    const { prefix, inputs, answerLocally } = lookUps;
    const now = Date.now();
    const asked: { key: string; index: number }[] = [];
    const found = inputs.map((input, index): Found<Answer> => {
      const local = answerLocally?.(input) ?? null;
      if (local !== null) return local;
      const key = prefix + input;
      const cached = getEntry(key);
      const isFresh = cached !== null && now <= cached.freshUntil;
      if (!isFresh && !flights.has(key)) asked.push({ key, index });
      return cached !== null && (isFresh || now <= cached.staleUntil) ? (cached.answer as Answer) : notKept;
    });
    const shared = (await sharedCache?.readMany(asked.map(({ key }) => key))) ?? [];
    let calls = 0;
    for (const [place, { key, index }] of asked.entries()) {
      const entry = shared[place] ?? null;
      if (isFreshAndShared(key, entry)) found[index] = entry.answer as Answer;
      else calls += 1;
    }
    return { found, calls };
  }

  /** The client has its answers, so it continues when the client leaves. */
  function revalidate<Answer extends object>(stale: Missing[], lookUps: LookUps<Answer>): void {
    const context = { ...lookUps.context, signal: new AbortableSignal(), activity: new UpstreamActivity() };
    const end = () => {
      for (const { key } of stale) revalidating.delete(key);
    };
    search(stale, { ...lookUps, context }, [], end, ignore);
  }

  function search<Answer extends object>(
    missing: readonly Missing[],
    lookUps: LookUps<Answer>,
    found: Found<Answer>[],
    resolve: (found: Found<Answer>[]) => void,
    reject: (reason: unknown) => void,
  ) {
    const { context } = lookUps;
    const started: Search = {
      lookUps: lookUps as LookUps<object>,
      missing,
      found,
      shared: [],
      batch: client.open(context),
      next: 0,
      running: 0,
      left: missing.length,
      isStepping: false,
      isOver: false,
      resolve: resolve as Search['resolve'],
      leave() {
        endSearch(started);
        reject(context.signal.reason);
      },
    };
    context.signal.addEventListener('abort', started.leave);
    context.activity.begin();
    if (sharedCache === null) return step(started);
    const reading = sharedCache.readMany(missing.map(({ key }) => key));
    void reading.then((shared) => {
      started.shared = shared;
      step(started);
    });
  }

  /** Looks up the next keys. What is found at once does not call it again: thousands may be. */
  function step(search: Search): void {
    if (search.isStepping) return;
    search.isStepping = true;
    while (search.running < maxConcurrency && search.next < search.missing.length && !search.isOver) {
      const missing = search.missing[search.next] as Missing;
      search.next += 1;
      search.running += 1;
      find({ search, missing, isAgain: false }, search.shared[search.next - 1] ?? null);
    }
    search.isStepping = false;
  }

  /** @param shared its entry in the shared cache */
  function find(waiting: Waiting, shared: CacheEntry | null) {
    const { key } = waiting.missing;
    const others = flights.get(key);
    if (others !== undefined) {
      events.flightJoined();
      others.push(waiting);
      return;
    }
    // Another request may have looked it up meanwhile.
    const cached = getEntry(key);
    if (cached !== null && Date.now() <= cached.freshUntil) return settle(waiting, cached, true);
    if (isFreshAndShared(key, shared)) return settle(waiting, keep(key, shared), true);
    fly(waiting, shared);
  }

  /** The search that begins a call pays for it. If the service fails, a stale entry of the shared cache is used. */
  function fly(waiting: Waiting, shared: CacheEntry | null): void {
    const { search, missing } = waiting;
    const { key, input } = missing;
    const others: Waiting[] = [];
    flights.set(key, others);
    const { version, latest: lastPurge } = epochs;
    const cause = missing.cause === 'new' && shared ? 'expired' : missing.cause;
    const land = (answer: object | null, failure: unknown) => {
      if (flights.get(key) !== others) return;
      if (answer === null) return end(waiting, others, null, shared, failure);
      try {
        // If the version has changed meanwhile, the answer may be of either: stored with the earlier one, it is never used again.
        const isNegative = search.lookUps.isNegative(answer);
        const entry = createEntry(answer, isNegative, version ?? epochs.version, lastPurge);
        end(waiting, others, entry, shared, null);
      } catch (error) {
        end(waiting, others, null, shared, error);
      }
    };
    try {
      search.lookUps.lookUp(input, { batch: search.batch, cause }, land);
    } catch (error) {
      land(null, error);
    }
  }

  function end(
    first: Waiting,
    others: Waiting[],
    answered: CacheEntry | null,
    shared: CacheEntry | null,
    failure: unknown,
  ): void {
    const { key } = first.missing;
    flights.delete(key);
    let entry: CacheEntry | null = null;
    if (answered !== null) {
      if (sharedCache !== null && !isPurged(key, answered)) sharedCache.write(key, answered);
      entry = keep(key, answered);
    } else if (shared !== null && !isPurged(key, shared) && Date.now() <= shared.staleUntil) {
      if (shared.version === epochs.version || epochs.version === null) entry = keep(key, shared);
    }
    const isHit = answered === null;
    settle(first, entry, isHit, failure);
    for (const waiting of others.splice(0)) {
      const { search, missing, isAgain } = waiting;
      if (search.isOver) continue;
      const isAsked =
        entry === null
          ? mayLookUpAgain(failure, first.search.lookUps.context, search.lookUps.context, isAgain)
          : isPurged(key, entry);
      if (isAsked) find({ search, missing, isAgain: true }, null);
      else settle(waiting, entry, isHit, failure);
    }
  }

  function settle({ search, missing }: Waiting, entry: CacheEntry | null, isHit: boolean, failure?: unknown): void {
    if (search.isOver) return;
    if (entry !== null) search.found[missing.index] = use(entry, isHit, search.lookUps.context);
    else search.found[missing.index] = failure instanceof Error ? failure : new Error(String(failure));
    search.running -= 1;
    search.left -= 1;
    if (search.left === 0) {
      endSearch(search);
      search.resolve(search.found);
    } else step(search);
  }

  /** Null if there is none, or it is of an earlier epoch. */
  function getEntry(key: string): CacheEntry | null {
    const entry = entries.get(key);
    if (entry === undefined) return null;
    if (isPast(key, entry)) {
      entries.delete(key);
      return null;
    }
    entry.lastPurge = epochs.latest;
    return entry;
  }

  /** Whether the answer of a call that began earlier, or of another gateway, was taken back since. */
  function isPurged(key: string, entry: Pick<CacheEntry, 'answer' | 'lastPurge'>): boolean {
    return entry.lastPurge < epochs.latest && epochs.covers(key, entry);
  }

  function isPast(key: string, entry: CacheEntry): boolean {
    return entry.version !== epochs.version || isPurged(key, entry);
  }

  function isFreshAndShared(key: string, shared: CacheEntry | null): shared is CacheEntry {
    return shared !== null && !isPast(key, shared) && Date.now() <= shared.freshUntil + offsetMs;
  }

  /** Keeps an entry in memory, unless there is a newer one. @returns it with the times of this gateway */
  function keep(key: string, entry: CacheEntry): CacheEntry {
    const own = offsetMs === 0 ? entry : { ...entry, freshUntil: entry.freshUntil + offsetMs };
    const kept = entries.peek(key);
    const isNewest = kept === undefined || isPast(key, kept) || own.freshUntil >= kept.freshUntil;
    if (isNewest && !isPast(key, entry)) entries.set(key, own);
    return own;
  }

  /** The time to live is randomized by ±10 %, so that entries of one time do not expire together. */
  function createEntry(answer: object, isNegative: boolean, version: string | null, lastPurge: number): CacheEntry {
    const now = Date.now();
    const freshUntil = now + (isNegative ? Math.min(freshMs, maxNegativeFreshMs) : freshMs) * (0.9 + 0.2 * random());
    const staleUntil = isNegative ? freshUntil : Math.max(freshUntil, now + maxAgeMs);
    return { answer: answer as CacheEntry['answer'], freshUntil, staleUntil, version, lastPurge };
  }
}

function endSearch(search: Search): void {
  const { signal, activity } = search.lookUps.context;
  search.isOver = true;
  signal.removeEventListener('abort', search.leave);
  activity.end();
}

/** Longer than a call takes. */
const maxOffsetMs = 15_000;

/** A negative answer is fresh for about an hour at most (±10 %), and never served stale. */
const maxNegativeFreshMs = 3_600_000;

/**
 * Whether a request looks up itself what the flight of another one did not: nothing was sent, because the other caller's budget or the
 * other request's limit is exhausted, or the other request has left, or has waited too long. The last may happen again, so it is tried once.
 */
function mayLookUpAgain(failure: unknown, other: RequestContext, context: RequestContext, isAgain: boolean): boolean {
  if (other.signal.aborted && failure === other.signal.reason) return true;
  const code = failure instanceof GatewayError ? failure.code : null;
  if (code === 'BUDGET_EXHAUSTED') return other.callerId !== context.callerId;
  if (code === 'PAID_CALLS_EXCEEDED') return other.requestKey !== context.requestKey;
  return code === 'UPSTREAM_UNAVAILABLE' && other.requestKey !== context.requestKey && !isAgain;
}

/** Counts a look-up that an entry answered, and lowers how long the response is fresh, for its `Cache-Control`. */
function use(entry: CacheEntry, isHit: boolean, { usage, freshness }: RequestContext): object {
  if (isHit) usage.cacheHits += 1;
  if (isHit && Date.now() > entry.freshUntil) usage.staleHits += 1;
  if (entry.freshUntil < freshness.freshUntil) freshness.freshUntil = entry.freshUntil;
  return entry.answer;
}

/** Resident memory of an entry besides its key and its answer, as measured. */
const bytesPerEntry = 200;
