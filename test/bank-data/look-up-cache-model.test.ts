import fc from 'fast-check';
import { beforeEach, expect, it, vi } from 'vitest';
import type { Signal } from '../../src/async/signal.ts';
import { createLookUpCache } from '../../src/bank-data/look-up-cache.ts';
import { createBulkhead } from '../../src/upstream/bulkhead.ts';
import { CountingSignal } from '../support/counting-signal.ts';
import { tRequestContext } from '../support/request-context.ts';

/* Random sequences of look-ups, results, failures, clients that leave, expiring answers and changes of the data. */

const maxRunning = 2;
const hour = 3_600_000;

type Step =
  | { kind: 'find'; key: string; callerId: string }
  | { kind: 'leave' | 'answer' | 'fail'; which: number }
  /** All clients leave while a result is passed on. */
  | { kind: 'race'; which: number; turns: number }
  | { kind: 'wait'; hours: number }
  | { kind: 'change' };

const which = fc.nat(9);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('find' as const),
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
      callerId: fc.constantFrom('x', 'y'),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('leave', 'answer', 'fail'), which }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('race' as const), which, turns: fc.nat(8) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.constantFrom(1, 30, 1_000) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('change' as const) }) },
);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});

function tModel() {
  let version = 1;
  let onChanged = () => {};
  const cache = createLookUpCache({
    turns: createBulkhead({ maxConcurrency: maxRunning, maxQueue: 3 }),
    freshMs: 24 * hour,
    maxAgeMs: 30 * 24 * hour,
    maxBytes: 1_000_000,
    events: { flightJoined: () => {} },
    dataVersion: {
      current: () => String(version),
      onChanged: (listener) => {
        onChanged = listener;
      },
    },
  });
  const running: { key: string; signal: Signal; answers: () => void; fails: () => void }[] = [];
  const finds: { key: string; signal: CountingSignal; result: string | null }[] = [];

  function find(key: string, callerId: string) {
    const signal = new CountingSignal();
    const found: (typeof finds)[number] = { key, signal, result: null };
    finds.push(found);
    const lookUp = (flight: { signal: Signal }) =>
      new Promise<{ key: string; version: number }>((resolve, reject) => {
        const isNext = {
          key,
          signal: flight.signal,
          answers: () => resolve({ key, version }),
          fails: () => reject(new Error('failed')),
        };
        running.push(isNext);
      });
    cache.find({ key, context: { ...tRequestContext(signal), callerId }, lookUp, isNegative: () => false }).then(
      (answer) => {
        found.result = answer.key;
      },
      (error) => {
        found.result = error.code ?? error.message;
      },
    );
    return found;
  }

  return {
    running,
    finds,
    find,
    status: cache.status,
    change() {
      version += 1;
      onChanged();
    },
  };
}

/** Lets all promises settle. */
async function settle() {
  for (let turn = 0; turn < 30; turn += 1) await Promise.resolve();
}

function take<Item>(items: Item[], which: number): Item | undefined {
  return items.splice(which % Math.max(1, items.length), 1)[0];
}

it('settles all look-ups, and leaves no turn, no listener and no second flight of a key', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const model = tModel();
      for (const one of steps) {
        if (one.kind === 'find') model.find(one.key, one.callerId);
        else if (one.kind === 'leave') {
          const waiting = model.finds.filter(({ result }) => result === null);
          const leaving = waiting[one.which % Math.max(1, waiting.length)];
          leaving?.signal.abort(new Error('left'));
          await settle();
          if (leaving) expect(leaving.result).toBe('left');
        } else if (one.kind === 'answer') take(model.running, one.which)?.answers();
        else if (one.kind === 'fail') take(model.running, one.which)?.fails();
        else if (one.kind === 'race') {
          const waiting = model.finds.filter(({ result }) => result === null);
          take(model.running, one.which)?.answers();
          for (let turn = 0; turn < one.turns; turn += 1) await Promise.resolve();
          for (const { signal } of waiting) signal.abort(new Error('left'));
        } else if (one.kind === 'wait') vi.advanceTimersByTime(one.hours * hour);
        else model.change();
        await settle();
        expect(model.running.length).toBeLessThanOrEqual(maxRunning);
        const keys = model.running.filter(({ signal }) => !signal.aborted).map(({ key }) => key);
        expect(new Set(keys).size).toBe(keys.length);
        const needed = model.finds.filter(({ result }) => result === null);
        // A turn is never free while look-ups wait, and those whose look-up runs are not aborted.
        if (model.status().waiting > 0) expect(model.running.length).toBe(maxRunning);
        expect(needed.length - model.status().waiting).toBeLessThanOrEqual(
          needed.filter(({ key }) => keys.includes(key)).length,
        );
      }
      while (model.running.length > 0) {
        take(model.running, 0)?.answers();
        await settle();
      }
      for (const { key, result, signal } of model.finds) {
        expect([key, 'failed', 'left', 'UPSTREAM_UNAVAILABLE']).toContain(result);
        if (result === 'left') expect(signal.aborted).toBe(true);
        expect(signal.listeners).toBe(0);
      }
      expect(model.status().waiting).toBe(0);
      // All turns are free.
      model.change();
      for (const key of ['new 1', 'new 2', 'new 3']) model.find(key, 'x');
      expect(model.running.map(({ key }) => key)).toEqual(['new 1', 'new 2']);
      expect(model.status().waiting).toBe(1);
    }),
    { numRuns: 60 },
  );
});
