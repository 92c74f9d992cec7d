import { randomUUID } from 'node:crypto';
import type { Essay, EssayOrder, EssayResult, SendingEssayGenerator } from '../../src/essays/essays.ts';
import type { RequestContext } from '../../src/request-context.ts';

export const order: EssayOrder = {
  description: 'The fountain pen',
  mode: 'STANDARD',
  wordCount: 100,
  purpose: null,
  titles: ['Ink', 'Nib'],
  idempotencyKey: 'form-1',
};

export const unkeyed: EssayOrder = { ...order, idempotencyKey: null };

export const failed: EssayResult = {
  kind: 'service-failed',
  message: 'The essay service failed.',
  code: 'UPSTREAM_FAILED',
  retryable: true,
  rawText: null,
};

export const truncated: EssayResult = { ...failed, rawText: '{"essay":"Pens hold' };

export function tEssay(text = 'Pens hold ink.'): Essay {
  return { kind: 'essay', id: randomUUID(), text, wordCount: 3, mode: 'STANDARD' };
}

interface Call {
  order: EssayOrder;
  context: RequestContext;
  answer: (result: EssayResult) => void;
  reject: (error: Error) => void;
}

/** Records each call, and holds it until the test answers it. */
export function tGenerator() {
  const calls: Call[] = [];
  let isQueueing = false;
  const generator: SendingEssayGenerator = {
    generate: (order, context, onSent) =>
      new Promise((resolve, reject) => {
        context.signal.addEventListener('abort', () => reject(context.signal.reason));
        if (!isQueueing) {
          context.usage.upstreamCalls += 1;
          onSent();
        }
        calls.push({ order, context, answer: resolve, reject });
      }),
  };
  return {
    generator,
    calls,
    /** From now on calls wait in the queue and are not sent. */
    queue() {
      isQueueing = true;
    },
  };
}
