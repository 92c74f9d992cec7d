import fc from 'fast-check';
import { beforeEach, expect, it, vi } from 'vitest';
import type { KeepAlive } from '../../src/base/async/shared-task.ts';
import type { Signal } from '../../src/base/async/signal.ts';
import { GatewayError } from '../../src/base/errors.ts';
import { createLookUpCache } from '../../src/gateway/bank-data/look-up-cache.ts';
import type { CacheEntry } from '../../src/gateway/bank-data/shared-cache.ts';
import { CountingSignal } from '../support/counting-signal.ts';
import {
  type CacheOptions,
  type Code,
  createCacheModel,
  day,
  hour,
  type ModelFind,
} from '../support/fuzz/cache-model.ts';
import { tCoverage } from '../support/fuzz/coverage.ts';
import { tRequestContext } from '../support/request-context.ts';
import { settle } from '../support/settle.ts';

/*
 * The cache does what a simple model of it does, after each of many random operations. More of them, or others:
 *   FUZZ_OPERATIONS=600000 FUZZ_SEED=7 npx vitest run test/fuzz/look-up-cache.test.ts
 */

const operations = Number(process.env.FUZZ_OPERATIONS ?? 3_000);
const seed = Number(process.env.FUZZ_SEED ?? 1);

type Step =
  | { kind: 'find'; key: string; callerId: string }
  | { kind: 'answer'; which: number; isNegative: boolean }
  | { kind: 'fail'; which: number; code: Code }
  /** One client leaves. */
  | { kind: 'leave'; which: number }
  /** A call is sent, or its attempt has ended: only in between do look-ups outlive their clients. */
  | { kind: 'send'; which: number }
  /** All clients leave while an answer is passed on. */
  | { kind: 'race'; which: number; turns: number }
  | { kind: 'wait'; hours: number }
  /** The bank lists change. */
  | { kind: 'change' }
  /** Another replica writes to the shared cache. */
  | { kind: 'share'; key: string; hours: number; isOutdated: boolean };

const which = fc.nat(9);
const key = fc.constantFrom('a', 'b', 'c', 'd');
const codes: Code[] = ['UPSTREAM_FAILED', 'UPSTREAM_UNAVAILABLE', 'BUDGET_EXHAUSTED'];
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('find'), key, callerId: fc.constantFrom('x', 'y') }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('answer'), which, isNegative: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('fail'), which, code: fc.constantFrom(...codes) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('leave', 'send'), which }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('race'), which, turns: fc.nat(8) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('wait'), hours: fc.constantFrom(0.5, 2, 30, 30, 1_000) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('change') }) },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('share'),
      key,
      hours: fc.constantFrom(-200, -40, -2, 1, 40),
      isOutdated: fc.constantFrom(true, false, false, false),
    }),
  },
);

const options: fc.Arbitrary<CacheOptions> = fc.record({
  maxEntries: fc.constantFrom(2, 3, 100),
  maxConcurrency: fc.constantFrom(2, 100),
  isShared: fc.boolean(),
  hasVersion: fc.boolean(),
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T12:00:00Z') });
});

it(`does what its model does: ${operations} operations (seed ${seed})`, {
  timeout: 60_000 + operations,
}, async () => {
  const bytesPerEntry = await measureEntry();
  const coverage = tCoverage();
  const steps = fc.array(step, { minLength: 20, maxLength: 80, size: 'max' });
  const property = fc.asyncProperty(options, steps, async (options, steps) => {
    const model = createCacheModel(options, coverage.count);
    const cache = tCache(options, bytesPerEntry);
    const compare = () => {
      expect(cache.running.map(({ key, signal }) => [key, signal.aborted])).toEqual(
        model.running.map(({ key, isAborted }) => [key, isAborted]),
      );
      for (const [index, { result }] of model.finds.entries())
        if (result !== 'any') expect(cache.finds[index]?.result).toBe(result);
      expect(cache.status()).toEqual({ entries: model.entries.size, bytes: model.entries.size * bytesPerEntry });
      expect(cache.shared).toEqual(model.shared);
    };
    for (const step of steps) {
      await perform(step, cache, model);
      await settle();
      compare();
    }
    while (model.running.length > 0) {
      await perform({ kind: 'answer', which: 0, isNegative: false }, cache, model);
      await settle();
    }
    compare();
    for (const { result, signal } of cache.finds) {
      expect(result).not.toBeNull();
      expect(signal.listeners).toBe(0);
    }
  });
  await fc.assert(property, { seed, numRuns: Math.ceil(operations / 50) });
  coverage.check(operations, {
    fresh: 4,
    stale: 0.5,
    joined: 2,
    failed: 2,
    evicted: 1,
    changed: 1,
    aborted: 1,
    raced: 0.5,
    'left others': 0.3,
    'started again': 0.2,
    'not revalidated': 0.05,
    replaced: 0.1,
    'of an earlier version': 0.2,
    'found in the shared cache': 0.2,
    'stale in the shared cache': 0.1,
    'older than in memory': 0.005,
  });
});

type Cache = ReturnType<typeof tCache>;
type Model = ReturnType<typeof createCacheModel>;

/** Performs a step in the cache and in its model, if it is possible. */
async function perform(step: Step, cache: Cache, model: Model): Promise<void> {
  if (step.kind === 'find') {
    model.find(step);
    cache.find(step);
  } else if (step.kind === 'wait') {
    vi.advanceTimersByTime(step.hours * hour);
  } else if (step.kind === 'change') {
    model.change();
    cache.change();
  } else if (step.kind === 'share') {
    const now = Date.now();
    const version = step.isOutdated ? 'outdated' : model.version();
    const times = { freshUntil: now + step.hours * hour, staleUntil: now + day };
    const entry = { answer: model.createAnswer(step.key, false), ...times, version };
    for (const { shared } of [cache, model]) shared.set(step.key, entry);
  } else if (step.kind === 'leave') {
    const waiting = model.finds.flatMap(({ result }, index) => (result === null ? [index] : []));
    const index = waiting[step.which % waiting.length];
    if (index === undefined) return;
    model.leave(model.finds[index] as ModelFind);
    cache.finds[index]?.signal.abort(new Error('left'));
  } else {
    const index = step.which % Math.max(1, model.running.length);
    const [flight, call] = [model.running[index], cache.running[index]];
    if (!flight || !call) return;
    if (step.kind === 'send') {
      model.send(flight);
      call.send();
      return;
    }
    cache.running.splice(index, 1);
    if (step.kind === 'fail') {
      model.fail(flight, step.code);
      call.fail(step.code);
      return;
    }
    const answer = model.createAnswer(flight.key, step.kind === 'answer' && step.isNegative);
    if (step.kind === 'race') {
      const waiting = model.finds.flatMap(({ result }, index) => (result === null ? [index] : []));
      model.race(flight, answer);
      call.answer(answer);
      for (let turn = 0; turn < step.turns; turn += 1) await Promise.resolve();
      for (const index of waiting) cache.finds[index]?.signal.abort(new Error('left'));
    } else {
      model.answer(flight, answer);
      call.answer(answer);
    }
  }
}

/** A call to the service that has no answer yet. */
interface Call {
  key: string;
  signal: Signal;
  send(): void;
  answer(answer: object): void;
  fail(code: Code): void;
}

function tCache({ maxEntries, maxConcurrency, isShared, hasVersion }: CacheOptions, bytesPerEntry: number) {
  let version = 1;
  let onChanged = () => {};
  const shared = new Map<string, CacheEntry>();
  const sharedCache = {
    get: async (key: string) => shared.get(key) ?? null,
    set: (key: string, entry: CacheEntry) => void shared.set(key, entry),
    claim: async () => ({ release() {} }),
  };
  const dataVersion = {
    current: () => (hasVersion ? String(version) : null),
    onChanged: (listener: () => void) => {
      onChanged = listener;
    },
  };
  const cache = createLookUpCache({
    freshMs: day,
    maxAgeMs: 30 * day,
    maxBytes: maxEntries * bytesPerEntry,
    maxConcurrency,
    sharedCache: isShared ? sharedCache : null,
    events: { flightJoined: () => {} },
    random: () => 0.5,
    dataVersion,
  });
  const running: Call[] = [];
  const finds: { signal: CountingSignal; result: string | null }[] = [];

  return {
    running,
    finds,
    shared,
    status: cache.status,
    find({ key, callerId }: { key: string; callerId: string }) {
      const signal = new CountingSignal();
      const found: (typeof finds)[number] = { signal, result: null };
      finds.push(found);
      const lookUp = ({ signal, task }: { signal: Signal; task: KeepAlive | null }) =>
        new Promise<{ key: string; serial: number; isNegative: boolean }>((resolve, reject) => {
          let isSent = false;
          const send = () => {
            if (isSent) task?.release();
            else task?.keepAlive();
            isSent = !isSent;
          };
          const end = () => isSent && send();
          running.push({
            key,
            signal,
            send,
            answer(answer) {
              end();
              resolve(answer as { key: string; serial: number; isNegative: boolean });
            },
            fail(code) {
              end();
              reject(new GatewayError(code, code));
            },
          });
        });
      const context = { ...tRequestContext(signal), callerId };
      cache.find({ key, context, lookUp, isNegative: ({ isNegative }) => isNegative }).then(
        ({ key, serial }) => {
          found.result = `${key}${serial}`;
        },
        (error) => {
          found.result = error.message;
        },
      );
    },
    change() {
      version += 1;
      if (hasVersion) onChanged();
    },
  };
}

/** All entries have the same size. */
async function measureEntry(): Promise<number> {
  const cache = tCache({ maxEntries: 1, maxConcurrency: 1, isShared: false, hasVersion: false }, 10_000);
  cache.find({ key: 'a', callerId: 'x' });
  cache.running[0]?.answer({ key: 'a', serial: 1, isNegative: false });
  await settle();
  return cache.status().bytes;
}
