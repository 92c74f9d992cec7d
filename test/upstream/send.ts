import { onTestFinished } from 'vitest';
import { type Deadline, startDeadline } from '../../src/upstream/deadline.ts';
import type { Answered, Failed, FailureReason, Outcome, Send, UpstreamRequest } from '../../src/upstream/operation.ts';

export const get: UpstreamRequest = { method: 'GET', path: '/thing' };
export const post: UpstreamRequest = { method: 'POST', path: '/essay', body: {} };

export function answered(
  status: number,
  { json = {}, headers = {}, retryAt = null }: Partial<Answered> = {},
): Answered {
  return { kind: 'answered', status, headers, retryAt, text: JSON.stringify(json) ?? '', json };
}

export function failed(reason: FailureReason): Failed {
  return { kind: 'failed', reason, text: '' };
}

/** A deadline that is released with the test. */
export function tDeadline(signal: AbortSignal = new AbortController().signal, timeoutMs = 10_000): Deadline {
  const deadline = startDeadline(timeoutMs, signal);
  onTestFinished(() => deadline.end());
  return deadline;
}

/** Returns outcomes from a list, the last one again and again, and records what was sent. */
export function tSend(...outcomes: [Outcome, ...Outcome[]]) {
  const sent: { request: UpstreamRequest; leftMs: number }[] = [];
  let script = outcomes;
  const send: Send = async (request, { signal, leftMs }) => {
    signal.throwIfAborted();
    sent.push({ request, leftMs: leftMs() });
    const [first, ...rest] = script;
    if (rest[0] !== undefined) script = [rest[0], ...rest.slice(1)];
    return first;
  };
  return {
    send,
    sent,
    returnsNext(...next: [Outcome, ...Outcome[]]) {
      script = next;
    },
  };
}

/** Holds every outcome back until the test returns it. */
export function tHeldSend() {
  const held: { path: string; leftMs: number; returns: (outcome: Outcome) => void }[] = [];
  const send: Send = ({ path }, { signal, leftMs }) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      signal.addEventListener('abort', () => reject(signal.reason));
      held.push({ path, leftMs: leftMs(), returns: resolve });
    });
  return { send, held };
}
