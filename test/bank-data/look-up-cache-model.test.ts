import fc from 'fast-check';
import { beforeEach, expect, it, vi } from 'vitest';
import type { Signal } from '../../src/async/signal.ts';
import { createLookUpCache } from '../../src/bank-data/look-up-cache.ts';
import { CountingSignal } from '../support/counting-signal.ts';
import { tRequestContext } from '../support/request-context.ts';
import { settle } from '../support/settle.ts';

/* Random sequences of look-ups, results, failures, clients that leave, expiring answers and changes of the data. */

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
    freshMs: 24 * hour,
    maxAgeMs: 30 * 24 * hour,
    maxBytes: 1_000_000,
    maxConcurrency: 100,
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
    const lookUp = ({ signal }: { signal: Signal }) =>
      new Promise<{ key: string }>((resolve, reject) => {
        const answers = () => resolve({ key });
        running.push({ key, signal, answers, fails: () => reject(new Error('failed')) });
      });
    cache.find({ key, context: { ...tRequestContext(signal), callerId }, lookUp, isNegative: () => false }).then(
      (answer) => {
        found.result = answer.key;
      },
      (error) => {
        found.result = error.message;
      },
    );
  }

  return {
    running,
    finds,
    find,
    change() {
      version += 1;
      onChanged();
    },
  };
}

function take<Item>(items: Item[], which: number): Item | undefined {
  return items.splice(which % Math.max(1, items.length), 1)[0];
}

it('settles all look-ups, and leaves no listener and no second flight of a key', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const model = tModel();
      for (const one of steps) {
        const waiting = model.finds.filter(({ result }) => result === null);
        if (one.kind === 'find') model.find(one.key, one.callerId);
        else if (one.kind === 'leave') {
          const leaving = waiting[one.which % Math.max(1, waiting.length)];
          leaving?.signal.abort(new Error('left'));
          await settle();
          if (leaving) expect(leaving.result).toBe('left');
        } else if (one.kind === 'answer') take(model.running, one.which)?.answers();
        else if (one.kind === 'fail') take(model.running, one.which)?.fails();
        else if (one.kind === 'race') {
          take(model.running, one.which)?.answers();
          for (let turn = 0; turn < one.turns; turn += 1) await Promise.resolve();
          for (const { signal } of waiting) signal.abort(new Error('left'));
        } else if (one.kind === 'wait') vi.advanceTimersByTime(one.hours * hour);
        else model.change();
        await settle();
        const keys = model.running.filter(({ signal }) => !signal.aborted).map(({ key }) => key);
        expect(new Set(keys).size).toBe(keys.length);
        const needed = model.finds.filter(({ result }) => result === null);
        // Each caller that waits has a look-up that runs and is not aborted.
        for (const { key } of needed) expect(keys).toContain(key);
      }
      while (model.running.length > 0) {
        take(model.running, 0)?.answers();
        await settle();
      }
      for (const { key, result, signal } of model.finds) {
        expect([key, 'failed', 'left']).toContain(result);
        if (result === 'left') expect(signal.aborted).toBe(true);
        expect(signal.listeners).toBe(0);
      }
    }),
    { numRuns: 60 },
  );
});
