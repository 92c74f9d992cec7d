import fc from 'fast-check';
import { beforeEach, expect, it, vi } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import type { Events } from '../../../src/gateway/telemetry/events.ts';
import type { Answered, Failed } from '../../../src/gateway/upstream/outcome.ts';
import { tRequestContext } from '../../support/gateway/callers.ts';
import { answered, failed, get, post, type TSend, tCaller, tClient } from '../../support/gateway/upstream/send.ts';

/* Random sequences of operations, responses, failures, clients that leave, and time. */

const timeoutMs = 1_000;
const maxConcurrency = 2;

type Step =
  | { kind: 'send'; isWrite: boolean; reservesLater: boolean }
  | { kind: 'leave' | 'answer' | 'fail' | 'reject'; which: number }
  | { kind: 'wait'; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('send' as const),
      isWrite: fc.boolean(),
      reservesLater: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({ kind: fc.constantFrom('leave', 'answer', 'fail', 'reject'), which: fc.nat(9) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 50, 333, 1_000) }),
  },
);

beforeEach(() => {
  // `setImmediate` passes on the slot of a caller who left. At the end it must have done so, because the slots are counted.
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance', 'Date'] });
});

function tModel() {
  const calls: { settle: (outcome: Answered | Failed) => void }[] = [];
  let reserved = 0;
  let reservesLater = false;
  const makeCall: TSend = () =>
    new Promise((resolve) => {
      const call = {
        settle(outcome: Answered | Failed) {
          calls.splice(calls.indexOf(call), 1);
          resolve(outcome);
        },
      };
      calls.push(call);
    });
  const release = () => {
    reserved -= 1;
  };
  const reserve = () => {
    reserved += 1;
    const reservation = { kind: 'reserved' as const, release, recordAnswer() {} };
    // As when it waits for the store.
    return reservesLater
      ? new Promise<typeof reservation>((resolve) => setTimeout(resolve, 60, reservation))
      : reservation;
  };
  let paid = 0;
  const callEnded: Events['callEnded'] = (_, { isSent }) => {
    if (isSent) paid += 1;
  };
  const limits = { maxConcurrency, maxQueue: 3, timeoutMs, backoffMs: 100 };
  const client = tClient(makeCall, { ...limits, allowance: { reserve }, events: { callEnded } });
  const send = tCaller(client);
  const operations: { signal: CountingSignal; startedAt: number; isWrite: boolean; result: string | null }[] = [];
  return {
    calls,
    operations,
    status: client.status,
    counts: () => ({ reserved, paid }),
    send({ isWrite, reservesLater: isLater }: Extract<Step, { kind: 'send' }>) {
      reservesLater = isLater;
      const signal = new CountingSignal();
      const operation = { signal, startedAt: performance.now(), isWrite, result: null as string | null };
      operations.push(operation);
      send(isWrite ? post : get, { ...tRequestContext(), signal })
        .then(
          ({ kind }) => kind,
          (reason: Error) => reason.message,
        )
        .then((result) => {
          operation.result = result;
        });
    },
  };
}

it('settles all operations in time, and leaves no slot, timer, listener or reservation', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 60 }), async (steps) => {
      const model = tModel();
      const settle = () => vi.advanceTimersByTimeAsync(0);
      for (const one of steps) {
        const call = 'which' in one ? model.calls[one.which % Math.max(1, model.calls.length)] : undefined;
        if (one.kind === 'send') model.send(one);
        else if (one.kind === 'wait') await vi.advanceTimersByTimeAsync(one.ms);
        else if (one.kind === 'answer') call?.settle(answered(200));
        else if (one.kind === 'fail') call?.settle(answered(503));
        else if (one.kind === 'reject') call?.settle(failed('unreachable'));
        else {
          const running = model.operations.filter(({ result }) => result === null);
          running[one.which % Math.max(1, running.length)]?.signal.abort(new Error('left'));
        }
        await settle();
        expect(model.status().active).toBeLessThanOrEqual(maxConcurrency);
        for (const { startedAt, isWrite, result, signal } of model.operations) {
          // A write restarts its deadline when it leaves the queue; a call waits at most 60 ms for its reservation.
          const latest = startedAt + (isWrite ? 2 : 1) * timeoutMs + 60;
          if (result === null && !signal.aborted) expect(performance.now()).toBeLessThanOrEqual(latest);
        }
      }
      await vi.advanceTimersByTimeAsync(3 * timeoutMs);
      expect(model.status()).toEqual({ active: 0, queued: 0 });
      expect(vi.getTimerCount()).toBe(0);
      expect(model.counts().reserved).toBe(model.counts().paid);
      for (const { signal, result } of model.operations) {
        expect(['answered', 'failed', 'shed', 'left']).toContain(result);
        expect(signal.listeners).toBe(0);
      }
    }),
    { numRuns: 80 },
  );
});

/** Counts its listeners. */
class CountingSignal extends AbortableSignal {
  readonly #listeners = new Set<() => void>();

  /** Those that were not removed before the signal aborted. */
  get listeners(): number {
    return this.aborted ? 0 : this.#listeners.size;
  }

  override addEventListener(type: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
    super.addEventListener(type, listener);
  }

  override removeEventListener(type: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
    super.removeEventListener(type, listener);
  }
}
