import { LRUCache } from 'lru-cache';
import type { RequestContext } from '../request-context.ts';
import { createSharedFlights } from './shared-flights.ts';

export interface AnswerCache {
  /**
   * The answer from the cache, else what `ask` finds out, once for all who ask at the same time.
   * @param ask may reject: then a stale answer stands in if there is one, and nothing is kept
   * @param isNegative whether the answer says that something is not so, and is kept for a shorter time
   */
  find<Answer extends object>(
    key: string,
    caller: RequestContext,
    ask: (flight: RequestContext) => Promise<Answer>,
    isNegative: (answer: Answer) => boolean,
  ): Promise<Answer>;
}

/** An answer with its times, in milliseconds of the epoch. */
export interface KeptAnswer {
  answer: object;
  /** Up to and with this moment. */
  freshUntil: number;
  /** Until when it may stand in for a fresh one. */
  staleUntil: number;
}

/** A slower cache behind this one, shared by several gateways. It never rejects. */
export interface SecondLevel {
  get(key: string): Promise<KeptAnswer | null>;
  set(key: string, kept: KeptAnswer): void;
}

interface AnswerCacheOptions {
  freshMs: number;
  /** How long an answer may be served at all: past its fresh time while it is asked for anew, or the service fails. */
  staleMs: number;
  /** How long an answer that says no is fresh. It is never served stale. */
  negativeFreshMs?: number;
  maxBytes: number;
  secondLevel?: SecondLevel | null;
  random?: () => number;
}

interface Fetching {
  flight: RequestContext;
  ask: (flight: RequestContext) => Promise<object>;
  isNegative: (answer: object) => boolean;
  /** Whether the cache fetches for this flight, and not for one before. */
  isOwn: boolean;
  wasAsked: boolean;
}

/** Fresh answers from memory; stale ones at once, while they are asked for anew; one flight per key; bounded in bytes. */
export function createAnswerCache({
  freshMs,
  staleMs,
  negativeFreshMs = Math.min(freshMs, 3_600_000),
  maxBytes,
  secondLevel = null,
  random = Math.random,
}: AnswerCacheOptions): AnswerCache {
  const memory = new LRUCache<string, KeptAnswer, Fetching>({
    maxSize: maxBytes,
    sizeCalculation: (kept, key) => 2 * (JSON.stringify(kept.answer).length + key.length) + bytesPerEntry,
    // lru-cache's own clock stands still within a millisecond, and timers of its own are not wanted.
    perf: Date,
    ttlResolution: 0,
    allowStale: true,
    noDeleteOnStaleGet: true,
    noDeleteOnFetchRejection: true,
    fetchMethod: async (key, _stale, { options, context }) => {
      const kept = await fetchAnswer(key, context);
      options.ttl = Math.max(1, kept.freshUntil - Date.now());
      return kept;
    },
  });
  const flights = createSharedFlights<{ kept: KeptAnswer; isHit: boolean }>();

  return {
    async find<Answer extends object>(
      key: string,
      caller: RequestContext,
      ask: (flight: RequestContext) => Promise<Answer>,
      isNegative: (answer: Answer) => boolean,
    ) {
      caller.cost.lookUps += 1;
      const known = memory.get(key);
      if (known && Date.now() <= known.freshUntil) {
        caller.cost.cacheHits += 1;
        return told(known, caller) as Answer;
      }
      const { kept, isHit } = await flights.join(key, caller.signal, (signal) => {
        const flight = { ...caller, signal };
        const isNo = isNegative as (answer: object) => boolean;
        return look(key, { flight, ask, isNegative: isNo, isOwn: false, wasAsked: false });
      });
      if (isHit) caller.cost.cacheHits += 1;
      if (Date.now() > kept.freshUntil) caller.cost.staleHits += 1;
      return told(kept, caller) as Answer;
    },
  };

  /** The answer; the caller learns how long it is fresh, which routers' caches are told. */
  function told({ answer, freshUntil }: KeptAnswer, caller: RequestContext): object {
    caller.freshUntil = Math.min(caller.freshUntil, freshUntil);
    return answer;
  }

  async function look(key: string, context: Fetching): Promise<{ kept: KeptAnswer; isHit: boolean }> {
    const known = memory.peek(key, { allowStale: true });
    if (known && Date.now() > known.staleUntil) memory.delete(key);
    // The cache is not handed the flight's signal: its listener on that would never be collected (Node.js 20). So it may
    // still fetch for a flight that was called off, and is about to fail with that.
    const kept = await memory.fetch(key, { context }).catch((error: unknown) => {
      if (context.isOwn) throw error;
      return memory.fetch(key, { context });
    });
    if (kept === undefined) throw new Error('the cache dropped a flight');
    return { kept, isHit: kept === known || !context.wasAsked };
  }

  async function fetchAnswer(key: string, context: Fetching): Promise<KeptAnswer> {
    const { flight, ask, isNegative } = context;
    context.isOwn = true;
    const shared = (await secondLevel?.get(key)) ?? null;
    if (shared && Date.now() <= shared.freshUntil) return shared;
    context.wasAsked = true;
    try {
      const kept = keep(await ask(flight), isNegative);
      secondLevel?.set(key, kept);
      return kept;
    } catch (error) {
      if (!shared || Date.now() > shared.staleUntil) throw error;
      context.wasAsked = false;
      return shared;
    }
  }

  /** Spread by a tenth either way, so that what was asked together is not asked anew together. */
  function keep<Answer extends object>(answer: Answer, isNegative: (answer: Answer) => boolean): KeptAnswer {
    const lifetimeMs = (isNegative(answer) ? negativeFreshMs : freshMs) * (0.9 + 0.2 * random());
    const freshUntil = Date.now() + lifetimeMs;
    const staleUntil = isNegative(answer) ? freshUntil : Math.max(freshUntil, Date.now() + staleMs);
    return { answer, freshUntil, staleUntil };
  }
}

/** What an entry costs besides its text, roughly. */
const bytesPerEntry = 300;
