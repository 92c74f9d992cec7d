import { AbortableSignal } from '../../base/async/signal.ts';
import { GatewayError } from '../../base/errors.ts';
import { type RequestContext, UpstreamActivity } from '../request-context.ts';
import { type CallCause, type Events, ignore } from '../telemetry/events.ts';
import type { UpstreamCalls, UpstreamClient } from '../upstream/upstream-client.ts';
import { type DataVersion, noDataVersion } from './data-version.ts';
import { createLookUpTable, type TimedAnswer } from './look-up-table.ts';
import { noPurges, type Purges } from './purges.ts';
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
  /** If it rejects, nothing is cached, and a stale answer is served if there is one. */
  lookUp(calls: UpstreamCalls, input: string): Promise<Answer>;
  /** Whether the answer has the shorter time to live of a negative answer. */
  isNegative(answer: NoInfer<Answer>): boolean;
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
  /** Answers that come from data of another version are not used. */
  dataVersion?: Pick<DataVersion, 'current' | 'onChanged'>;
  purges?: Purges;
}

/** A call in progress, and the request that started it and pays for it. Other requests for its key wait for it. */
interface Flight {
  result: Promise<Result>;
  context: Pick<RequestContext, 'callerId' | 'requestKey' | 'signal'>;
}

interface Result {
  entry: TimedAnswer;
  /** False if it was looked up at the service. */
  isHit: boolean;
}

/** A key without an answer in memory. */
interface Missing<Answer> {
  key: string;
  input: string;
  /** Why it is looked up. */
  cause: CallCause;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

type Wanted = Pick<Missing<object>, 'key' | 'input' | 'cause'>;

/** The calls that are open for the keys of one request. */
type Batch = Pick<LookUps<object>, 'context' | 'lookUp' | 'isNegative'> & { calls: UpstreamCalls };

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
  dataVersion = noDataVersion,
  purges = noPurges,
}: LookUpCacheOptions) {
  const table = createLookUpTable(maxBytes, purges);
  const flights = new Map<string, Flight>();
  const revalidating = new Set<string>();
  /** Replicas refresh what they share at different times: the first one pays, and the others find its answer. */
  const offsetMs = sharedCache === null ? 0 : (2 * random() - 1) * Math.min(freshMs / 10, maxOffsetMs);
  dataVersion.onChanged(table.clear);

  return { findAll, status: table.status };

  /** The cached answers, and those looked up. Stale answers are returned at once while one flight for each revalidates it. */
  function findAll<Answer extends object>(lookUps: LookUps<Answer>): Promise<Answer>[] {
    const { prefix, inputs, context, answerLocally } = lookUps;
    if (context.signal.aborted) return inputs.map(() => Promise.reject(context.signal.reason));
    const answers: Promise<Answer>[] = [];
    const missing: Missing<Answer>[] = [];
    const stale: Missing<Answer>[] = [];
    const now = Date.now();
    for (const input of inputs) {
      const local = answerLocally?.(input) ?? null;
      if (local !== null) {
        answers.push(Promise.resolve(local));
        continue;
      }
      context.usage.lookUps += 1;
      const key = prefix + input;
      const cached = table.get(key);
      if (cached === null || (now > cached.freshUntil && now > cached.staleUntil)) {
        const cause = cached === null ? 'new' : 'expired';
        answers.push(new Promise((resolve, reject) => missing.push({ key, input, cause, resolve, reject })));
        continue;
      }
      // Only while calls are free, so that it does not delay look-ups for which clients wait.
      const mayRevalidate = flights.size < maxConcurrency && revalidating.size < maxConcurrency && !flights.has(key);
      if (now > cached.freshUntil && mayRevalidate && !revalidating.has(key)) {
        revalidating.add(key);
        stale.push({ key, input, cause: 'revalidation', resolve: ignore, reject: ignore });
      }
      answers.push(Promise.resolve(use<Answer>(cached, true, context)));
    }
    if (missing.length > 0) void lookUpMissing(missing, lookUps);
    if (stale.length > 0) void revalidate(stale, lookUps);
    return answers;
  }

  /** The client has its answers, so it continues when the client leaves. */
  async function revalidate<Answer extends object>(stale: Missing<Answer>[], lookUps: LookUps<Answer>): Promise<void> {
    const context = { ...lookUps.context, signal: new AbortableSignal(), activity: new UpstreamActivity() };
    await lookUpMissing(stale, { ...lookUps, context });
    for (const { key } of stale) revalidating.delete(key);
  }

  async function lookUpMissing<Answer extends object>(
    missing: Missing<Answer>[],
    lookUps: LookUps<Answer>,
  ): Promise<void> {
    const { context } = lookUps;
    const { signal, activity } = context;
    const leave = () => {
      for (const { reject } of missing) reject(signal.reason);
    };
    signal.addEventListener('abort', leave);
    activity.begin();
    const calls = client.open(context);
    const batch = { ...lookUps, calls } as Batch;
    const shared = sharedCache === null ? [] : await sharedCache.readMany(missing.map(({ key }) => key));
    const waiting = missing.entries();
    // Each worker takes the next key until none is left; the others wait without holding more than their key.
    const work = async () => {
      for (const [index, { key, input, cause, resolve, reject }] of waiting) {
        if (signal.aborted) return;
        try {
          const { entry, isHit } = await find({ key, input, cause }, shared[index] ?? null, batch);
          resolve(use<Answer>(entry, isHit, context));
        } catch (error) {
          reject(error);
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(missing.length, maxConcurrency) }, work));
    calls.end();
    activity.end();
    signal.removeEventListener('abort', leave);
  }

  /** @param shared its entry in the shared cache */
  async function find(wanted: Wanted, shared: CacheEntry | null, batch: Batch): Promise<Result> {
    const { key } = wanted;
    for (let isAgain = false; ; isAgain = true) {
      const flight = flights.get(key);
      if (flight === undefined) {
        const now = Date.now();
        // Another request may have looked it up meanwhile.
        const cached = table.get(key);
        if (cached !== null && now <= cached.freshUntil) return { entry: cached, isHit: true };
        const isCurrent = shared && shared.version === dataVersion.current() && !isPurged(key, shared);
        if (isCurrent && now <= shared.freshUntil + offsetMs) return { entry: keep(key, shared), isHit: true };
        const result = load(wanted, shared, batch).finally(() => flights.delete(key));
        flights.set(key, { result, context: batch.context });
        return result;
      }
      events.flightJoined();
      try {
        const result = await flight.result;
        if (!isPurged(key, result.entry)) return result;
      } catch (error) {
        if (!mayLookUpAgain(error, flight, batch.context, isAgain)) throw error;
      }
    }
  }

  /** If the service fails, a stale entry of the shared cache is used. */
  async function load({ key, input, cause }: Wanted, shared: CacheEntry | null, batch: Batch): Promise<Result> {
    const version = dataVersion.current();
    const lastPurge = purges.latest;
    try {
      const answer = await batch.lookUp(
        callsBecause(cause === 'new' && shared ? 'expired' : cause, batch.calls),
        input,
      );
      // If the version has changed meanwhile, the answer may be of either: stored with the earlier one, it is never used again.
      const timed = createEntry(answer, batch.isNegative(answer), lastPurge);
      const entry = { ...timed, version: version ?? dataVersion.current() };
      if (!isPurged(key, entry)) sharedCache?.write(key, entry);
      return { entry: keep(key, entry), isHit: false };
    } catch (error) {
      const current = dataVersion.current();
      const isUsable = shared && (shared.version === current || current === null) && !isPurged(key, shared);
      if (isUsable && Date.now() <= shared.staleUntil) return { entry: keep(key, shared), isHit: true };
      throw error;
    }
  }

  /** Whether the answer of a call that began earlier, or of another gateway, was taken back since. */
  function isPurged(key: string, entry: Pick<TimedAnswer, 'answer' | 'lastPurge'>): boolean {
    return entry.lastPurge < purges.latest && purges.covers(key, entry);
  }

  /** Keeps an entry in memory, unless there is a newer one. @returns it with the times of this gateway */
  function keep(key: string, { version, ...entry }: CacheEntry): TimedAnswer {
    const own = { ...entry, freshUntil: entry.freshUntil + offsetMs };
    const isUsable = version === dataVersion.current() && !isPurged(key, entry);
    if (isUsable && own.freshUntil >= (table.get(key)?.freshUntil ?? 0)) table.set(key, own);
    return own;
  }

  /** The time to live is randomized by ±10 %, so that entries of one time do not expire together. */
  function createEntry(answer: object, isNegative: boolean, lastPurge: number): Omit<CacheEntry, 'version'> {
    const now = Date.now();
    const freshUntil = now + (isNegative ? Math.min(freshMs, maxNegativeFreshMs) : freshMs) * (0.9 + 0.2 * random());
    const staleUntil = isNegative ? freshUntil : Math.max(freshUntil, now + maxAgeMs);
    return { answer: answer as CacheEntry['answer'], freshUntil, staleUntil, lastPurge };
  }
}

/** Calls whose requests say why they are made. */
function callsBecause(cause: CallCause, calls: UpstreamCalls): UpstreamCalls {
  return cause === 'new' ? calls : { ...calls, send: (request) => calls.send({ ...request, cause }) };
}

/** Longer than a call takes. */
const maxOffsetMs = 15_000;

/** A negative answer is fresh for about an hour at most (±10 %), and never served stale. */
const maxNegativeFreshMs = 3_600_000;

/**
 * Whether a request looks up itself what the flight of another one did not: nothing was sent, because the other caller's budget is
 * exhausted, or the other request has left, or has waited too long. The last may happen again, so it is tried once.
 */
function mayLookUpAgain(error: unknown, flight: Flight, context: RequestContext, isAgain: boolean): boolean {
  if (context.signal.aborted) return false;
  const other = flight.context;
  if (other.signal.aborted && error === other.signal.reason) return true;
  const code = error instanceof GatewayError ? error.code : null;
  if (code === 'BUDGET_EXHAUSTED') return other.callerId !== context.callerId;
  return code === 'UPSTREAM_UNAVAILABLE' && other.requestKey !== context.requestKey && !isAgain;
}

/** Counts a look-up that an entry answered, and lowers how long the response is fresh, for its `Cache-Control`. */
function use<Answer>(entry: TimedAnswer, isHit: boolean, { usage, freshness }: RequestContext): Answer {
  if (isHit) usage.cacheHits += 1;
  if (isHit && Date.now() > entry.freshUntil) usage.staleHits += 1;
  freshness.freshUntil = Math.min(freshness.freshUntil, entry.freshUntil);
  return entry.answer as Answer;
}
