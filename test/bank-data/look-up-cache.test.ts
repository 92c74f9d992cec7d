import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  type AnswerCache,
  createAnswerCache,
  type KeptAnswer,
  type SecondLevel,
} from '../../src/bank-data/look-up-cache.ts';
import type { RequestContext } from '../../src/request-context.ts';
import { tCaller } from '../request-context.ts';

const hour = 3_600_000;
const day = 24 * hour;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

interface Answer {
  serial: number;
  isNo?: boolean;
}

/** A cache in front of a source that counts its answers from 1. `random` 0.5: no jitter. */
function tCache(options: Partial<Parameters<typeof createAnswerCache>[0]> = {}, source: Partial<Answer> = {}) {
  const cache = createAnswerCache({
    freshMs: day,
    staleMs: 30 * day,
    maxBytes: 1_000_000,
    random: () => 0.5,
    ...options,
  });
  let asked = 0;
  let fault: Error | null = null;
  const find = async (key = 'k', from: AnswerCache = cache) => {
    const caller = tCaller();
    const ask = async (): Promise<Answer> => {
      asked += 1;
      if (fault) throw fault;
      return { serial: asked, ...source };
    };
    const answer = await from.find(key, caller, ask, ({ isNo = false }) => isNo);
    return { serial: answer.serial, cost: caller.cost };
  };
  return {
    find,
    asked: () => asked,
    breaks: (error: Error | null) => {
      fault = error;
    },
  };
}

/** Lets what goes on in the background come to its end. */
async function settle() {
  for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
}

describe('the answer cache', () => {
  it('asks once while the answer is fresh', async () => {
    const { find, asked } = tCache();
    expect((await find()).cost).toMatchObject({ lookUps: 1, cacheHits: 0, staleHits: 0 });
    vi.advanceTimersByTime(day);
    expect(await find()).toMatchObject({ serial: 1, cost: { lookUps: 1, cacheHits: 1, staleHits: 0 } });
    expect(asked()).toBe(1);
  });

  it('answers at once with what is stale, and asks anew meanwhile', async () => {
    const { find, asked } = tCache();
    await find();
    vi.advanceTimersByTime(day + 1);
    expect(await find()).toMatchObject({ serial: 1, cost: { cacheHits: 1, staleHits: 1 } });
    await settle();
    expect(await find()).toMatchObject({ serial: 2, cost: { cacheHits: 1, staleHits: 0 } });
    expect(asked()).toBe(2);
  });

  it('answers with what is stale while the service fails, up to its last day, and keeps no failure', async () => {
    const { find, breaks } = tCache();
    await find();
    breaks(new Error('down'));
    vi.advanceTimersByTime(30 * day);
    expect(await find()).toMatchObject({ serial: 1, cost: { staleHits: 1 } });
    await settle();
    expect(await find()).toMatchObject({ serial: 1 });
    await settle();
    vi.advanceTimersByTime(1);
    await expect(find()).rejects.toThrow('down');
    breaks(null);
    expect((await find()).serial).toBeGreaterThan(1);
  });

  it('keeps a no for a shorter time, and never past it', async () => {
    const { find, asked, breaks } = tCache({}, { isNo: true });
    await find();
    vi.advanceTimersByTime(hour);
    await find();
    expect(asked()).toBe(1);
    breaks(new Error('down'));
    vi.advanceTimersByTime(1);
    await expect(find()).rejects.toThrow('down');
  });

  it('spreads the times by a tenth either way', async () => {
    for (const [random, lifetime] of [
      [0, 0.9 * day],
      [0.999999, 1.0999 * day],
    ] as const) {
      const { find, asked } = tCache({ random: () => random });
      await find();
      vi.advanceTimersByTime(lifetime - 1);
      expect((await find()).cost.staleHits).toBe(0);
      vi.advanceTimersByTime(day / 1_000);
      expect((await find()).cost.staleHits).toBe(1);
      await settle();
      expect(asked()).toBe(2);
    }
  });

  it('keeps within its bytes', async () => {
    const { find, asked } = tCache({ maxBytes: 4_000 });
    for (let key = 0; key < 100; key += 1) await find(`key-${key}`);
    await find('key-99');
    expect(asked()).toBe(100);
    await find('key-0');
    expect(asked()).toBe(101);
  });
});

describe('a second level', () => {
  /** As JSON, as it would come from another process. */
  function tSecondLevel() {
    const entries = new Map<string, string>();
    const level: SecondLevel = {
      get: async (key) => JSON.parse(entries.get(key) ?? 'null') as KeptAnswer | null,
      set: (key, kept) => void entries.set(key, JSON.stringify(kept)),
    };
    return level;
  }

  it('spares a second gateway the call', async () => {
    const secondLevel = tSecondLevel();
    const [one, other] = [tCache({ secondLevel }), tCache({ secondLevel })];
    await one.find();
    expect(await other.find()).toMatchObject({ serial: 1, cost: { lookUps: 1, cacheHits: 1, staleHits: 0 } });
    expect(other.asked()).toBe(0);
  });

  it('hands on how long an answer is fresh still', async () => {
    const secondLevel = tSecondLevel();
    const [one, other] = [tCache({ secondLevel }), tCache({ secondLevel })];
    await one.find();
    vi.advanceTimersByTime(day);
    await other.find();
    vi.advanceTimersByTime(2);
    expect((await other.find()).cost.staleHits).toBe(1);
    await settle();
    expect(other.asked()).toBe(1);
  });

  it('stands in with what is stale when the service fails', async () => {
    const secondLevel = tSecondLevel();
    const [one, other] = [tCache({ secondLevel }), tCache({ secondLevel })];
    await one.find();
    vi.advanceTimersByTime(2 * day);
    other.breaks(new Error('down'));
    expect(await other.find()).toMatchObject({ serial: 1, cost: { cacheHits: 1, staleHits: 1 } });
  });
});

it('lets go of a caller once it was answered', async () => {
  const cache = createAnswerCache({ freshMs: day, staleMs: day, maxBytes: 1_000_000 });
  const flights: WeakRef<AbortSignal>[] = [];
  for (let number = 0; number < 20; number += 1) {
    const ask = async ({ signal }: RequestContext) => {
      flights.push(new WeakRef(signal));
      return { number };
    };
    await cache.find(`k${number}`, tCaller(), ask, () => false);
  }
  expect(flights).toHaveLength(20);
  await collectGarbage();
  expect(flights.filter((flight) => flight.deref() !== undefined)).toEqual([]);
});

async function collectGarbage() {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // What was dereferenced lives to the end of its turn; what is registered for finalization, to the next collection.
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
}
