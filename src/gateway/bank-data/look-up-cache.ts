import { SharedTask } from '../../base/async/shared-task.ts';
import { type ErrorCode, GatewayError } from '../../base/errors.ts';
import type { RequestContext } from '../request-context.ts';
import type { Events } from '../telemetry/events.ts';
import type { BankDataPort } from './bank-data.ts';
import { type DataVersion, noDataVersion } from './data-version.ts';
import { createLookUpTable, type TimedAnswer } from './look-up-table.ts';
import type { CacheEntry, SharedCache } from './shared-cache.ts';

/** Caches each look-up by its key, so that simultaneous requests for one IBAN share one upstream call. */
export function withCache(source: BankDataPort, cache: Pick<LookUpCache, 'find'>): BankDataPort {
  return {
    validateIban: (iban, context) =>
      cache.find({
        // All other keys contain a colon.
        key: iban,
        context,
        lookUp: (flightContext) => source.validateIban(iban, flightContext),
        isNegative: isInvalid,
      }),
    validateBic: (bic, context) =>
      cache.find({
        key: `bic:${bic}`,
        context,
        lookUp: (flightContext) => source.validateBic(bic, flightContext),
        isNegative: isInvalid,
      }),
    generateIban: (values, context) =>
      cache.find({
        key: `generation:${JSON.stringify([values.country, values.bankCode, values.branch, values.accountNumber])}`,
        context,
        lookUp: (flightContext) => source.generateIban(values, flightContext),
        isNegative: ({ kind }) => kind === 'invalid',
      }),
    listBanks: (listing, context) =>
      cache.find({
        key: `banks:${JSON.stringify([listing.country, listing.search, listing.offset, listing.limit])}`,
        context,
        lookUp: (flightContext) => source.listBanks(listing, flightContext),
        isNegative: ({ banks, isCutShort = false }) => banks.length === 0 || isCutShort,
      }),
  };
}

function isInvalid({ valid }: { valid: boolean }): boolean {
  return !valid;
}

/** A look-up that the cache may answer. */
interface LookUp<Answer> {
  key: string;
  context: RequestContext;
  /**
   * Receives the context of the flight, which several requests may wait for. If it rejects, nothing is cached, and a stale
   * answer is served if there is one.
   */
  lookUp: (flightContext: RequestContext) => Promise<Answer>;
  /** Whether the answer has the shorter time to live of a negative answer. */
  isNegative(answer: NoInfer<Answer>): boolean;
}

interface LookUpCacheOptions {
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
}

/** A look-up that is running, and the caller who started it and pays for it. */
interface Flight {
  task: SharedTask<Result>;
  callerId: string;
  requestKey: symbol;
}

/**
 * The entry of a flight. V8 may keep an entry that was removed from a Map until the next full garbage collection, so it lets go
 * of the flight.
 */
interface FlightEntry {
  /** Null once it has ended. */
  flight: Flight | null;
}

interface Result {
  entry: TimedAnswer;
  /** False if it was looked up at the service. */
  isHit: boolean;
}

type Loaded = Result & { entry: CacheEntry };

type LookUpCache = ReturnType<typeof createLookUpCache>;

/** Look-ups in memory, bounded in bytes: stale while revalidate, stale if error, one flight per key. */
export function createLookUpCache({
  freshMs,
  maxAgeMs,
  maxBytes,
  maxConcurrency,
  sharedCache = null,
  events,
  random = Math.random,
  dataVersion = noDataVersion,
}: LookUpCacheOptions) {
  const table = createLookUpTable(maxBytes);
  const flights = new Map<string, FlightEntry>();
  /** Replicas refresh what they share at different times: the first one pays, and the others find its answer. */
  const offsetMs = sharedCache === null ? 0 : (2 * random() - 1) * Math.min(freshMs / 10, maxOffsetMs);
  dataVersion.onChanged(table.clear);

  return { find, status: table.status };

  /**
   * The cached answer, or the one looked up. A stale answer is returned at once while one flight revalidates it. Not async: an
   * answer in memory needs no more than its promise.
   */
  function find<Answer extends object>(lookUp: LookUp<Answer>, isAgain = false): Promise<Answer> {
    const { key, context } = lookUp;
    if (context.signal.aborted) return Promise.reject(context.signal.reason);
    context.usage.lookUps += 1;
    const cached = table.get(key);
    const now = Date.now();
    if (cached && now <= cached.freshUntil) return Promise.resolve(use<Answer>(cached, true, context));
    const known = flights.get(key)?.flight ?? null;
    const running = known?.task.signal.aborted === false ? known : null;
    if (cached && now <= cached.staleUntil) {
      // Revalidates only while calls are free, so that it does not delay look-ups for which clients wait.
      if (running === null && flights.size < maxConcurrency) startFlight(lookUp);
      return Promise.resolve(use<Answer>(cached, true, context));
    }
    if (running !== null) events.flightJoined();
    return waitFor(running ?? startFlight(lookUp), lookUp, isAgain);
  }

  async function waitFor<Answer extends object>(
    flight: Flight,
    lookUp: LookUp<Answer>,
    isAgain: boolean,
  ): Promise<Answer> {
    const { context } = lookUp;
    context.activity.begin();
    try {
      const { entry, isHit } = await flight.task.wait(context.signal);
      return use<Answer>(entry, isHit, context);
    } catch (error) {
      const isOthersBudget = flight.callerId !== context.callerId && hasCode(error, 'BUDGET_EXHAUSTED');
      const isOthersWait = flight.requestKey !== context.requestKey && hasCode(error, 'UPSTREAM_UNAVAILABLE');
      if (!isOthersBudget && (isAgain || !isOthersWait)) throw error;
    } finally {
      context.activity.end();
    }
    // Nothing was sent: the other caller's budget is exhausted, or the other request has waited too long. This one may have more.
    context.usage.lookUps -= 1;
    return find(lookUp, true);
  }

  function startFlight<Answer extends object>(lookUp: LookUp<Answer>): Flight {
    const { key, context } = lookUp;
    const flightEntry: FlightEntry = { flight: null };
    const task = new SharedTask<Result>(async (task) => {
      const isCurrent = () => flights.get(key) === flightEntry;
      try {
        // The shared cache is part of its deadline.
        const startedAt = context.startedAt ?? performance.now();
        const flightContext = { ...context, signal: task.signal, task, startedAt };
        const { entry: loaded, isHit } = await (sharedCache
          ? loadShared(lookUp, flightContext, sharedCache)
          : load(lookUp, flightContext));
        const entry = { ...loaded, freshUntil: loaded.freshUntil + offsetMs };
        // An entry of the shared cache may be older than the one in memory.
        const isNewest = !isHit || (table.get(key)?.freshUntil ?? 0) <= entry.freshUntil;
        if (isCurrent() && entry.version === dataVersion.current() && isNewest) table.set(key, entry);
        return { entry, isHit };
      } finally {
        if (isCurrent()) flights.delete(key);
        flightEntry.flight = null;
      }
    });
    const flight = { task, callerId: context.callerId, requestKey: context.requestKey };
    flightEntry.flight = flight;
    flights.set(key, flightEntry);
    return flight;
  }

  /** Looks it up in the shared cache first. If the service fails, a stale entry of the shared cache is used. */
  async function loadShared<Answer extends object>(
    lookUp: LookUp<Answer>,
    context: RequestContext,
    sharedCache: SharedCache,
  ): Promise<Loaded> {
    const { key } = lookUp;
    const shared = await sharedCache.get(key);
    const isUsable = () => shared !== null && shared.version === dataVersion.current();
    if (shared && isUsable() && Date.now() <= shared.freshUntil + offsetMs) return { entry: shared, isHit: true };
    try {
      const loaded = await load(lookUp, context);
      sharedCache.set(key, loaded.entry);
      return loaded;
    } catch (error) {
      const hasVersion = dataVersion.current() !== null;
      if (shared && (isUsable() || !hasVersion) && Date.now() <= shared.staleUntil)
        return { entry: shared, isHit: true };
      throw error;
    }
  }

  async function load<Answer extends object>(
    { lookUp, isNegative }: LookUp<Answer>,
    context: RequestContext,
  ): Promise<Loaded> {
    const version = dataVersion.current();
    const answer = await lookUp(context);
    // If the version has changed meanwhile, the answer may be of either: stored with the earlier one, it is never used again.
    return { entry: createEntry(answer, isNegative(answer), version ?? dataVersion.current()), isHit: false };
  }

  /** The time to live is randomized by ±10 %, so that entries of one time do not expire together. */
  function createEntry(answer: object, isNegative: boolean, version: string | null): CacheEntry {
    const now = Date.now();
    const freshUntil = now + (isNegative ? Math.min(freshMs, maxNegativeFreshMs) : freshMs) * (0.9 + 0.2 * random());
    const staleUntil = isNegative ? freshUntil : Math.max(freshUntil, now + maxAgeMs);
    return { answer: answer as CacheEntry['answer'], freshUntil, staleUntil, version };
  }
}

/** Longer than a call takes. */
const maxOffsetMs = 15_000;

/** A negative answer is fresh for about an hour at most (±10 %), and never served stale. */
const maxNegativeFreshMs = 3_600_000;

/** Counts a look-up that an entry answered, and lowers how long the response is fresh, for its `Cache-Control`. */
function use<Answer>(
  { answer, freshUntil }: TimedAnswer,
  isHit: boolean,
  { usage, freshness }: RequestContext,
): Answer {
  if (isHit) usage.cacheHits += 1;
  if (isHit && Date.now() > freshUntil) usage.staleHits += 1;
  freshness.freshUntil = Math.min(freshness.freshUntil, freshUntil);
  return answer as Answer;
}

function hasCode(error: unknown, code: ErrorCode): boolean {
  return error instanceof GatewayError && error.code === code;
}
