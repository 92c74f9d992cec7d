import { randomUUID } from 'node:crypto';
import type { Essay, EssayResult, EssaySender, KeyedOrder, OrderInput } from '../../../../src/gateway/essays/port.ts';
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

/** Accepts a second payment. */
export const again: KeyedOrder = { ...order, orderAgain: true };

export const unkeyed: OrderInput = { ...order, idempotencyKey: null };

export const failed: EssayResult = {
  kind: 'service-failed',
  message: 'The essay service failed.',
  code: 'UPSTREAM_FAILED',
  retryable: true,
  rawText: null,
};

/** May have been paid for. */
export const timedOut: EssayResult = { ...failed, code: 'UPSTREAM_TIMED_OUT', retryable: false, outcome: 'unknown' };

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

interface Call {
  order: OrderInput;
  context: RequestContext;
  /** The text so far. */
  show: (text: string) => void;
  answer: (result: EssayResult) => void;
  reject: (error: Error) => void;
}

const shed: EssayResult = { ...failed, message: 'Shed.', code: 'UPSTREAM_UNAVAILABLE' };

/** Receives each call as the audit trail does: before it is sent, and when it has ended. */
export type CallTrail = Pick<Events, 'callBegins' | 'callEnded'>;

/** Records each call, and holds it until the test answers it. */
export function tGenerator(trail: CallTrail = { callBegins: () => {}, callEnded: () => {} }) {
  const calls: Call[] = [];
  let isQueueing = false;
  let beforeSent = () => {};
  const queued: (() => void)[] = [];
  const sender: EssaySender = {
    send: (order, context, { maySend, beforeAttempt, onText = () => {} }) =>
      new Promise((resolve, reject) => {
        const { signal, usage, origin } = context;
        const info = { service: 'essays', method: 'POST', path: '/v2/generate/essay/', origin, cause: 'new' } as const;
        let isSent = false;
        const end = (status: number | null) => {
          const outcome = status === null ? null : ({ kind: 'answered', status } as CallOutcome);
          if (isSent) trail.callEnded(info, { outcome, isSent, durationMs: 0 });
          isSent = false;
        };
        const answer = (result: EssayResult) => {
          end(result.kind === 'essay' ? 200 : 504);
          resolve(result);
        };
        const call = { order, context, show: onText, answer, reject };
        signal.addEventListener('abort', () => {
          end(null);
          reject(signal.reason);
        });
        const send = async () => {
          if (!(await maySend())) return resolve(shed);
          signal.throwIfAborted();
          beforeSent();
          beforeAttempt();
          isSent = true;
          trail.callBegins(info);
          usage.upstreamCalls += 1;
          if (!calls.includes(call)) calls.push(call);
        };
        if (isQueueing) calls.push(call);
        if (isQueueing) queued.push(() => void send().catch(reject));
        else send().catch(reject);
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
