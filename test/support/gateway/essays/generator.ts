import { randomUUID } from 'node:crypto';
import type {
  Essay,
  EssayFailure,
  EssayResult,
  EssaySender,
  EssaySlot,
  KeyedOrder,
  OrderInput,
} from '../../../../src/gateway/essays/port.ts';
import type { RequestContext } from '../../../../src/gateway/request-context.ts';
import type { Events } from '../../../../src/gateway/telemetry/events.ts';
import type { CallOutcome } from '../../../../src/gateway/trace.ts';

export const order: KeyedOrder = {
  description: 'The fountain pen',
  mode: 'STANDARD',
  wordCount: 100,
  purpose: null,
  titles: ['Ink', 'Nib'],
  idempotencyKey: 'form-1',
  orderAgain: false,
};

export const modeNames = {
  STANDARD: 'Standard',
  ACADEMIC: 'Academic',
  PROFESSIONAL: 'Professional',
  NEWS_REPORT: 'News',
  DETAILED: 'Detailed',
};

/** Accepts a second payment. */
export const again: KeyedOrder = { ...order, orderAgain: true };

export const unkeyed: OrderInput = { ...order, idempotencyKey: null };

export const failed: EssayFailure = {
  kind: 'service-failed',
  message: 'The essay service failed.',
  code: 'UPSTREAM_FAILED',
  retryable: true,
  rawText: null,
};

/** May have been paid for. */
export const timedOut: EssayFailure = { ...failed, code: 'UPSTREAM_TIMED_OUT', retryable: false, outcome: 'unknown' };

export const unknownOutcome = {
  ...failed,
  message:
    'An earlier attempt of this order was sent, and its outcome is unknown: it may have been paid for. Order the essay ' +
    'again only if it may be paid for twice.',
  retryable: false,
  outcome: 'unknown',
};

export function tEssay(text = 'Pens hold ink.'): Essay {
  return {
    kind: 'essay',
    id: randomUUID(),
    text,
    wordCount: 3,
    mode: 'STANDARD',
    writer: 'SERVICE',
    createdAt: new Date('2026-11-02T08:00:00Z'),
    keptUntil: new Date('2026-12-02T08:00:00Z'),
    input: { description: 'pens', mode: 'STANDARD', wordCount: 100, purpose: null, titles: [] },
  };
}

/** Orders an essay as soon as there is a place. */
export async function sendOrder(
  { reserve }: Pick<EssaySender, 'reserve'>,
  ...args: Parameters<EssaySender['reserve']>
): Promise<EssayResult> {
  let step = await reserve(...args);
  while (step.kind === 'slot') step = await step.send();
  return step;
}

interface Call {
  order: OrderInput;
  context: RequestContext;
  /** The text so far. */
  show: (text: string) => void;
  answer: (result: EssayResult) => void;
  reject: (error: Error) => void;
}

const shed: EssayFailure = { ...failed, message: 'Shed.', code: 'UPSTREAM_UNAVAILABLE' };

/** Receives each call as the audit trail does: before it is sent, and when it has ended. */
export type CallTrail = Pick<Events, 'orderCallBegins' | 'callEnded'>;

/** Records each call, and holds it until the test answers it. */
export function tGenerator(trail: CallTrail = { orderCallBegins: () => {}, callEnded: () => {} }) {
  const calls: Call[] = [];
  let isQueueing = false;
  let beforeSent = () => {};
  const queued: (() => void)[] = [];
  const sender: EssaySender = {
    reserve: (order, context, onText = () => {}) =>
      new Promise((resolve, reject) => {
        const { signal, usage, origin } = context;
        const info = { service: 'essays', method: 'POST', path: '/v2/generate/essay/', origin, cause: 'new' } as const;
        let isSent = false;
        let isInFlight = false;
        let settle = resolve;
        let fail = reject;
        let early: EssayResult | null = null;
        const end = (status: number | null) => {
          const outcome = status === null ? null : ({ kind: 'answered', status } as CallOutcome);
          if (isInFlight) trail.callEnded(info, { outcome, isSent, durationMs: 0 });
          isInFlight = false;
        };
        const answer = (result: EssayResult) => {
          end(result.kind === 'essay' ? 200 : 504);
          // Only what was sent has an essay.
          if (isSent || result.kind !== 'essay') return settle(result);
          early = result;
          settle(slot);
        };
        const call = { order, context, show: onText, answer, reject: (error: Error) => fail(error) };
        signal.addEventListener('abort', () => {
          end(null);
          fail(signal.reason);
        });
        const slot: EssaySlot = {
          kind: 'slot',
          isOpen() {
            beforeSent();
            return true;
          },
          send: () =>
            new Promise((resolveSent, rejectSent) => {
              settle = resolveSent;
              fail = rejectSent;
              isSent = true;
              isInFlight = true;
              trail.orderCallBegins(info);
              usage.upstreamCalls += 1;
              if (!calls.includes(call)) calls.push(call);
              if (early !== null) answer(early);
            }),
          release: () => shed,
        };
        if (isQueueing) calls.push(call);
        if (isQueueing) queued.push(() => resolve(slot));
        else resolve(slot);
      }),
    reparse: () => null,
  };
  return {
    sender,
    calls,
    /** From now on calls wait in the queue and are not sent. */
    queue() {
      isQueueing = true;
    },
    /** Those that wait leave the queue. */
    leaveQueue() {
      for (const leave of queued.splice(0)) leave();
    },
    /** Happens between the last check and the call. */
    beforeSent(happen: () => void) {
      beforeSent = happen;
    },
  };
}
