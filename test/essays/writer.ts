import { randomUUID } from 'node:crypto';
import type { Essay, EssayOrder, EssayResult, EssaysPort } from '../../src/essays/essays.ts';
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
  message: 'The essays service failed.',
  code: 'UPSTREAM_FAILED',
  retryable: true,
  rawText: null,
};

export function tEssay(text = 'Pens hold ink.'): Essay {
  return { kind: 'essay', id: randomUUID(), text, wordCount: 3, mode: 'STANDARD' };
}

interface Call {
  order: EssayOrder;
  caller: RequestContext;
  answer: (result: EssayResult) => void;
  break: (error: Error) => void;
}

/** The essay service, as far as it is asked: each call is recorded, and held until it is answered. */
export function tWriter() {
  const calls: Call[] = [];
  let isInLine = false;
  const essays: EssaysPort = {
    generate: (order, caller) =>
      new Promise((resolve, reject) => {
        caller.signal.addEventListener('abort', () => reject(caller.signal.reason));
        if (!isInLine) caller.cost.upstreamCalls += 1;
        calls.push({ order, caller, answer: resolve, break: reject });
      }),
    find: async () => null,
  };
  return {
    essays,
    calls,
    /** From now on calls wait in line, and are not sent. */
    waitsInLine() {
      isInLine = true;
    },
  };
}
