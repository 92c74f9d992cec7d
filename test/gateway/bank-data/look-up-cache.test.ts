import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Signal } from '../../../src/base/async/signal.ts';
import { GatewayError } from '../../../src/base/errors.ts';
import { type Epochs, oneEpoch } from '../../../src/gateway/bank-data/epochs.ts';
import { createLookUpCache } from '../../../src/gateway/bank-data/look-up-cache.ts';
import type { CacheEntry, SharedCache } from '../../../src/gateway/bank-data/shared-cache.ts';
import type { RequestContext } from '../../../src/gateway/request-context.ts';
import { Batch } from '../../../src/gateway/upstream/batch.ts';
import { tRequestContext } from '../../support/gateway/callers.ts';
import { collectGarbage } from '../../support/measure.ts';
import { settle } from '../../support/turns.ts';

const hour = 3_600_000;
const day = 24 * hour;
const tOptions = () => ({
  freshMs: day,
  maxAgeMs: 30 * day,
  maxBytes: 1_000_000,
  maxConcurrency: 2,
  random: () => 0.5,
  events: { flightJoined: () => {} },
  // The calls are those of the test.
  client: { open: (context: RequestContext) => new Batch(context, 60_000) },
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});

interface LookUp<Found> {
  key: string;
  context: RequestContext;
  lookUp: (context: RequestContext) => Promise<Found>;
  isNegative: (answer: Found) => boolean;
}

/** Finds one answer. */
async function tFind<Found extends object>(
  { findAll }: ReturnType<typeof createLookUpCache>,
  { key, lookUp, ...rest }: LookUp<Found>,
): Promise<Found> {
  const [found] = await findAll<Found>({
    ...{ prefix: '', inputs: [key], ...rest },
    lookUp: (_, { batch }, settle) =>
      void lookUp(batch.context).then(
        (answer) => settle(answer, null),
        (failure) => settle(null, failure),
      ),
  });
  if (found === undefined || found instanceof Error) throw found;
  return found;
}

interface Answer {
  serial: number;
  isNegative?: boolean;
}

/** A cache in front of a source that numbers its answers from 1. `random` 0.5: no jitter. */
function tCache(changes: Partial<Parameters<typeof createLookUpCache>[0]> = {}, source: Partial<Answer> = {}) {
  const cache = createLookUpCache({ ...tOptions(), ...changes });
  let fetched = 0;
  let fault: Error | null = null;
  const find = async (key = 'k') => {
    const context = tRequestContext();
    const fetch = async (): Promise<Answer> => {
      fetched += 1;
      if (fault) throw fault;
      return { serial: fetched, ...source };
    };
    const isNegative = (answer: Answer) => answer.isNegative === true;
    const { serial } = await tFind(cache, { key, context, lookUp: fetch, isNegative });
    return { serial, usage: context.usage };
  };
  return {
    find,
    status: cache.status,
    fetched: () => fetched,
    fails: (error: Error | null) => {
      fault = error;
    },
  };
}

/** A cache in front of a source that answers when the test says so. */
function tHeldSource(changes: Partial<Parameters<typeof createLookUpCache>[0]> = {}) {
  const cache = createLookUpCache({ ...tOptions(), ...changes });
  const fetches: (Pick<RequestContext, 'signal'> & {
    answers: (serial: number) => void;
    fails: (error: Error) => void;
  })[] = [];
  const find = (signal?: Signal, key = 'k', callerId = 'anonymous') =>
    tFind(cache, {
      key,
      context: { ...tRequestContext(signal), callerId },
      lookUp: ({ signal }) =>
        new Promise<Answer>((resolve, reject) => {
          fetches.push({ signal, answers: (serial) => resolve({ serial }), fails: reject });
        }),
      isNegative: () => false,
    });
  return { find, fetches };
}

/** As JSON, as from another process. */
function tSharedCache(): SharedCache {
  const entries = new Map<string, string>();
  return {
    readMany: async (keys) => keys.map((key) => JSON.parse(entries.get(key) ?? 'null') as CacheEntry | null),
    write: (key, entry) => void entries.set(key, JSON.stringify(entry)),
  };
}

describe('the look-up cache', () => {
  it('fetches once while the answer is fresh', async () => {
    const { find, fetched } = tCache();
    expect((await find()).usage).toMatchObject({ lookUps: 1, cacheHits: 0, staleHits: 0 });
    vi.advanceTimersByTime(day);
    expect(await find()).toMatchObject({ serial: 1, usage: { lookUps: 1, cacheHits: 1, staleHits: 0 } });
    expect(fetched()).toBe(1);
  });

  it('does not keep an answer that was requested before the version of the data changed', async () => {
    const epochs = { ...oneEpoch, version: 'v1' };
    const { find } = tCache({ epochs });
    const before = find();
    epochs.version = 'v2';
    expect(await before).toMatchObject({ serial: 1 });
    expect(await find()).toMatchObject({ serial: 2, usage: { cacheHits: 0 } });
    expect(await find()).toMatchObject({ serial: 2, usage: { cacheHits: 1 } });
  });

  it('returns a stale answer at once, and revalidates it in one flight', async () => {
    const { find, fetched } = tCache();
    await find();
    vi.advanceTimersByTime(day + 1);
    const both = await Promise.all([find(), find()]);
    expect(both).toMatchObject(Array(2).fill({ serial: 1, usage: { cacheHits: 1, staleHits: 1 } }));
    await settle();
    expect(await find()).toMatchObject({ serial: 2, usage: { cacheHits: 1, staleHits: 0 } });
    expect(fetched()).toBe(2);
  });

  it('serves a stale answer while the service fails, until its time to live ends, and caches no failure', async () => {
    const { find, fails } = tCache();
    await find();
    fails(new Error('down'));
    vi.advanceTimersByTime(30 * day);
    expect(await find()).toMatchObject({ serial: 1, usage: { staleHits: 1 } });
    await settle();
    expect(await find()).toMatchObject({ serial: 1 });
    await settle();
    vi.advanceTimersByTime(1);
    await expect(find()).rejects.toThrow('down');
    fails(null);
    expect((await find()).serial).toBeGreaterThan(1);
  });

  it('caches a negative answer for a shorter time, and never serves it stale', async () => {
    const { find, fetched, fails } = tCache({}, { isNegative: true });
    await find();
    vi.advanceTimersByTime(hour);
    await find();
    expect(fetched()).toBe(1);
    fails(new Error('down'));
    vi.advanceTimersByTime(1);
    await expect(find()).rejects.toThrow('down');
  });

  it('forgets the entry that was used least recently when its memory is full, and all when the data change', async () => {
    const one = tCache();
    await one.find('a');
    const { bytes } = one.status();
    const epochs: Epochs = { ...oneEpoch };
    const { find, fetched } = tCache({ maxBytes: 2 * bytes, epochs });
    for (const key of ['a', 'b', 'a', 'c', 'a']) await find(key);
    expect(fetched()).toBe(3);
    expect((await find('b')).usage.cacheHits).toBe(0);
    epochs.version = 'v2';
    expect((await find('b')).usage.cacheHits).toBe(0);
  });

  it('randomizes the time to live by 10 percent either way', async () => {
    for (const [random, lifetime] of [
      [0, 0.9 * day],
      [0.999999, 1.0999 * day],
    ] as const) {
      const { find, fetched } = tCache({ random: () => random });
      await find();
      vi.advanceTimersByTime(lifetime - 1);
      expect((await find()).usage.staleHits).toBe(0);
      vi.advanceTimersByTime(day / 1_000);
      expect((await find()).usage.staleHits).toBe(1);
      await settle();
      expect(fetched()).toBe(2);
    }
  });
});

describe('a flight', () => {
  it('has the signal of the request that started it', async () => {
    const { find, fetches } = tHeldSource();
    const caller = new AbortController();
    const found = find(caller.signal);
    expect(fetches[0]?.signal.aborted).toBe(false);
    caller.abort();
    await expect(found).rejects.toThrow('aborted');
    expect(fetches[0]?.signal.aborted).toBe(true);
  });

  /** A source whose first flight lasts although its caller has left, as when it was sent. */
  async function tLeftWhileHeld() {
    const { find, fetches } = tHeldSource();
    const caller = new AbortController();
    const left = find(caller.signal);
    caller.abort();
    await expect(left).rejects.toThrow('aborted');
    return { find, fetches, reason: caller.signal.reason as Error };
  }

  it('is joined after its caller has left, and answers', async () => {
    const { find, fetches } = await tLeftWhileHeld();
    const found = find();
    fetches[0]?.answers(1);
    expect(await found).toEqual({ serial: 1 });
    expect(fetches).toHaveLength(1);
  });

  it('is started again, once, by those who joined it, if it ends because its caller has left', async () => {
    const { find, fetches, reason } = await tLeftWhileHeld();
    const next = new AbortController();
    const found = [find(next.signal), find(), find()];
    fetches[0]?.fails(reason);
    await settle();
    expect(fetches).toHaveLength(2);
    next.abort();
    await expect(found[0]).rejects.toThrow('aborted');
    fetches[1]?.fails(next.signal.reason);
    await settle();
    fetches[2]?.answers(3);
    expect(await Promise.all(found.slice(1))).toEqual([{ serial: 3 }, { serial: 3 }]);
    expect(fetches).toHaveLength(3);
  });

  it('is not started again if it has failed although its caller has left', async () => {
    const { find, fetches } = await tLeftWhileHeld();
    const found = find();
    fetches[0]?.fails(new Error('down'));
    await expect(found).rejects.toThrow('down');
    expect(fetches).toHaveLength(1);
  });

  it('keeps the answer that it receives after its caller has left', async () => {
    const { find, fetches } = await tLeftWhileHeld();
    fetches[0]?.answers(1);
    await settle();
    expect(await find()).toEqual({ serial: 1 });
    expect(fetches).toHaveLength(1);
  });

  it('revalidates stale answers only while calls are free', async () => {
    const { find, fetches } = tHeldSource();
    const keys = ['a', 'b', 'c', 'd'];
    const found = keys.map((key) => find(undefined, key));
    for (const [serial, { answers }] of fetches.entries()) answers(serial);
    await Promise.all(found);
    vi.advanceTimersByTime(day + 1);
    expect(await Promise.all(keys.map((key) => find(undefined, key)))).toEqual(keys.map((_, serial) => ({ serial })));
    expect(fetches).toHaveLength(keys.length + 2);
  });

  it('is started again for a request that joined it, if it was not sent because the first request had waited too long', async () => {
    const { find, fetches } = tHeldSource();
    const [first, second] = [find(), find()];
    fetches[0]?.fails(new GatewayError('UPSTREAM_UNAVAILABLE', 'not called'));
    await expect(first).rejects.toThrow('not called');
    await settle();
    fetches[1]?.answers(2);
    expect(await second).toEqual({ serial: 2 });
    expect(fetches).toHaveLength(2);
  });

  it('is started again for other callers only, if the budget of the first one is exhausted', async () => {
    const { find, fetches } = tHeldSource();
    const [first, same, other] = [find(), find(), find(undefined, 'k', 'other')];
    const exhausted = [first, same].map((found) => expect(found).rejects.toThrow('no calls left'));
    fetches[0]?.fails(new GatewayError('BUDGET_EXHAUSTED', 'no calls left'));
    await Promise.all(exhausted);
    await settle();
    fetches[1]?.answers(2);
    expect(await other).toEqual({ serial: 2 });
    expect(fetches).toHaveLength(2);
  });

  it('is started again for other requests, if the first one may make no further calls', async () => {
    const { find, fetches } = tHeldSource();
    const [first, other] = [find(), find()];
    fetches[0]?.fails(new GatewayError('PAID_CALLS_EXCEEDED', 'no calls left'));
    await expect(first).rejects.toThrow('no calls left');
    await settle();
    fetches[1]?.answers(2);
    expect(await other).toEqual({ serial: 2 });
  });

  it('is not started for a caller who has aborted', async () => {
    const { find, fetches } = tHeldSource();
    await expect(find(AbortSignal.abort())).rejects.toThrow('aborted');
    expect(fetches).toHaveLength(0);
  });
});

describe('a shared cache', () => {
  it('saves a second gateway the call', async () => {
    const sharedCache = tSharedCache();
    const [one, other] = [tCache({ sharedCache }), tCache({ sharedCache })];
    await one.find();
    expect(await other.find()).toMatchObject({ serial: 1, usage: { lookUps: 1, cacheHits: 1, staleHits: 0 } });
    expect(other.fetched()).toBe(0);
  });

  it('passes on until when an answer is fresh', async () => {
    const sharedCache = tSharedCache();
    const [one, other] = [tCache({ sharedCache }), tCache({ sharedCache })];
    await one.find();
    vi.advanceTimersByTime(day);
    await other.find();
    vi.advanceTimersByTime(2);
    expect((await other.find()).usage.staleHits).toBe(1);
    await settle();
    expect(other.fetched()).toBe(1);
  });

  it('does not replace a newer entry in memory by an older one', async () => {
    const sharedCache = tSharedCache();
    const [one, other] = [tCache({ sharedCache }), tCache({ sharedCache: { ...sharedCache, write: () => {} } }, {})];
    await one.find();
    vi.advanceTimersByTime(day + 1);
    await other.find();
    await settle();
    // In memory, `other` has the answer that it fetched itself; the shared one is a day older.
    vi.advanceTimersByTime(day + 1);
    other.fails(new Error('down'));
    await other.find();
    await settle();
    vi.advanceTimersByTime(28 * day);
    expect((await other.find()).usage.staleHits).toBe(1);
  });

  it('serves a stale answer when the service fails', async () => {
    const sharedCache = tSharedCache();
    const [one, other] = [tCache({ sharedCache }), tCache({ sharedCache })];
    await one.find();
    vi.advanceTimersByTime(2 * day);
    other.fails(new Error('down'));
    expect(await other.find()).toMatchObject({ serial: 1, usage: { cacheHits: 1, staleHits: 1 } });
  });
});

describe('a purge', () => {
  /** Purges that cover every answer from before the last one. */
  const tEpochs = () => ({ ...oneEpoch, covers: (_: string, { lastPurge }: { lastPurge: number }) => lastPurge < 1 });

  it('removes an answer from memory', async () => {
    const epochs = tEpochs();
    const { find } = tCache({ epochs });
    await find();
    epochs.latest = 1;
    expect(await find()).toMatchObject({ serial: 2, usage: { cacheHits: 0 } });
    expect(await find()).toMatchObject({ serial: 2, usage: { cacheHits: 1 } });
  });

  it('that does not cover an answer is compared with it once', async () => {
    const covers = vi.fn(() => false);
    const epochs = { ...oneEpoch, covers };
    const { find } = tCache({ epochs });
    await find();
    epochs.latest = 1;
    for (let repeat = 0; repeat < 3; repeat += 1) expect(await find()).toMatchObject({ serial: 1 });
    expect(covers).toHaveBeenCalledOnce();
  });

  it('leaves the answer of a running call to those that asked before it: later ones look it up again', async () => {
    const epochs = tEpochs();
    const sharedCache = tSharedCache();
    const write = vi.spyOn(sharedCache, 'write');
    const { find, fetches } = tHeldSource({ epochs, sharedCache });
    const before = find();
    await settle();
    epochs.latest = 1;
    const after = find();
    await settle();
    fetches[0]?.answers(1);
    expect(await before).toEqual({ serial: 1 });
    await settle();
    fetches[1]?.answers(2);
    expect(await after).toEqual({ serial: 2 });
    expect(await find()).toEqual({ serial: 2 });
    expect(fetches).toHaveLength(2);
    expect(write.mock.calls.map(([, { answer }]) => answer)).toEqual([{ serial: 2 }]);
  });

  it.each([0, 2 * day])(
    'covers what another gateway has shared %j ms before, also if the service fails',
    async (age) => {
      const sharedCache = tSharedCache();
      const [one, other] = [tCache({ sharedCache }), tCache({ sharedCache, epochs: { ...tEpochs(), latest: 1 } })];
      await one.find();
      vi.advanceTimersByTime(age);
      other.fails(new Error('down'));
      await expect(other.find()).rejects.toThrow('down');
      other.fails(null);
      expect(await other.find()).toMatchObject({ usage: { cacheHits: 0 } });
    },
  );
});

describe('three replicas', () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });

  it('pay about once for each expiry of an answer that all of them use', async () => {
    const sharedCache = tSharedCache();
    let calls = 0;
    const source = async (): Promise<Answer> => {
      calls += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
      return { serial: calls };
    };
    const replicas = [0.1, 0.5, 0.9].map((chance) =>
      createLookUpCache({ ...tOptions(), freshMs: 3_000, sharedCache, random: () => chance }),
    );
    const find = (cache: (typeof replicas)[number]) =>
      tFind(cache, { key: 'k', context: tRequestContext(), lookUp: source, isNegative: () => false });
    const found = replicas.map(find);
    await vi.advanceTimersByTimeAsync(50);
    await Promise.all(found);
    // None of them knew it.
    expect(calls).toBe(3);
    for (let time = 0; time < 30_000; time += 10) {
      await Promise.all(replicas.map(find));
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(calls - 3).toBeGreaterThanOrEqual(9);
    expect(calls - 3).toBeLessThanOrEqual(12);
  });
});

it.each([
  ['its function', () => throwError(), () => false],
  ['the reading of its answer', async () => ({}), () => throwError()],
])('ends a flight although %s throws', async (_, lookUp, isNegative) => {
  const cache = createLookUpCache(tOptions());
  const lookUps = { key: 'a', context: tRequestContext(), lookUp, isNegative };
  await expect(tFind(cache, lookUps)).rejects.toThrow('broken');
  const answer = { found: true };
  const next = { key: 'a', context: tRequestContext(), lookUp: async () => answer, isNegative: () => false };
  expect(await tFind(cache, next)).toBe(answer);
});

function throwError(): never {
  throw new Error('broken');
}

it('holds no reference to a flight that has settled', async () => {
  const cache = createLookUpCache(tOptions());
  const flights: WeakRef<Signal>[] = [];
  for (let number = 0; number < 20; number += 1) {
    const fetch = async ({ signal }: RequestContext) => {
      flights.push(new WeakRef(signal));
      return { number };
    };
    await tFind(cache, { key: `k${number}`, context: tRequestContext(), lookUp: fetch, isNegative: () => false });
  }
  expect(flights).toHaveLength(20);
  // A dereferenced object lives to the end of its turn, one registered for finalization to the next collection.
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collectGarbage();
  }
  expect(flights.filter((flight) => flight.deref() !== undefined)).toEqual([]);
});
