import { onTestFinished } from 'vitest';
import type { Events } from '../../../../src/gateway/telemetry/events.ts';
import type { Allowance } from '../../../../src/gateway/upstream/allowance/allowance.ts';
import { createAttempt } from '../../../../src/gateway/upstream/attempt.ts';
import { Deadline } from '../../../../src/gateway/upstream/deadline.ts';
import { createCircuitBreaker, createRetryAfterBlock, guardWithin } from '../../../../src/gateway/upstream/guards.ts';
import type {
  Answered,
  Failed,
  FailureReason,
  Outcome,
  UpstreamRequest,
} from '../../../../src/gateway/upstream/outcome.ts';
import { createCallQueue } from '../../../../src/gateway/upstream/queue.ts';
import { withRetries } from '../../../../src/gateway/upstream/retries.ts';
import { tRequestContext } from '../../request-context.ts';

export const get: UpstreamRequest = { method: 'GET', path: '/thing' };
export const post: UpstreamRequest = { method: 'POST', path: '/essay', body: {} };

export function answered(
  status: number,
  { json = {}, headers = {}, retryAt = null, fault = null }: Partial<Answered> = {},
): Answered {
  return { kind: 'answered', status, headers, retryAt, text: JSON.stringify(json) ?? '', json, fault };
}

/** As the client does with a complete response. */
export function toOutcome({ findFault }: UpstreamRequest, answer: Omit<Answered, 'fault'>): Answered | Failed {
  const fault = answer.status < 400 ? (findFault?.(answer) ?? null) : null;
  return fault === 'mismatched' ? { kind: 'failed', reason: fault, text: '' } : { ...answer, fault };
}

export function failed(reason: FailureReason): Failed {
  return { kind: 'failed', reason, text: '' };
}

/** A deadline that is released with the test. */
export function tDeadline(signal: AbortSignal = new AbortController().signal, timeoutMs = 10_000): Deadline {
  const deadline = new Deadline(signal, timeoutMs);
  onTestFinished(() => deadline.end());
  return deadline;
}

export type TSend = (request: UpstreamRequest, deadline: Deadline) => Promise<Outcome>;

/** Returns outcomes from a list, the last one again and again, and records what was sent. */
export function tSend(...outcomes: [Outcome, ...Outcome[]]) {
  const sent: { request: UpstreamRequest; leftMs: number }[] = [];
  let script = outcomes;
  const send: TSend = async (request, deadline) => {
    deadline.throwIfAborted();
    sent.push({ request, leftMs: deadline.leftMs() });
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
  const send: TSend = ({ path }, deadline) =>
    new Promise((resolve, reject) => {
      if (deadline.aborted) return reject(deadline.reason);
      deadline.addEventListener('abort', () => reject(deadline.reason));
      held.push({ path, leftMs: deadline.leftMs(), returns: resolve });
    });
  return { send, held };
}

interface AttemptOptions {
  maxConcurrency?: number;
  maxQueue?: number;
  queue?: ReturnType<typeof createCallQueue>;
  allowance?: Pick<Allowance, 'reserve'>;
  events?: Partial<Pick<Events, 'circuitChanged' | 'callEnded'>>;
}

/** Sends attempts past all guards; those that are not configured refuse nothing. */
export function tAttempt(
  call: TSend,
  {
    maxConcurrency = 10_000,
    maxQueue = 0,
    queue = createCallQueue({ maxConcurrency, maxQueue }),
    allowance = unlimited,
    events = {},
  }: AttemptOptions = {},
) {
  const attempt = createAttempt({
    service: 'bank-data',
    queue,
    createGuard: (path) =>
      guardWithin(
        createRetryAfterBlock(),
        createCircuitBreaker((state) => events.circuitChanged?.('bank-data', path, state)),
      ),
    allowance,
    makeCall({ request, deadline }, onSending) {
      onSending();
      return call(request, deadline);
    },
    events: { callBegins() {}, callEnded() {}, ...events },
  });
  return (request = get, deadline = tDeadline(), context = tRequestContext()) =>
    attempt({ request, deadline, context, retries: 0 });
}

const unlimited: Pick<Allowance, 'reserve'> = {
  reserve: () => ({ kind: 'reserved', release: () => {}, recordAnswer: () => {} }),
};

/** Sends attempts past a circuit breaker, and records its events. */
export function tBreaker(send: TSend) {
  const events: string[] = [];
  const guarded = tAttempt(send, {
    events: {
      circuitChanged: (_, path, state) => state !== 'half_open' && events.push(`${state} ${path}`),
    },
  });
  const call = (path = get.path, signal?: AbortSignal) => guarded({ ...get, path }, tDeadline(signal));
  const callTimes = async (times: number) => {
    for (let round = 0; round < times; round += 1) await call();
  };
  return { call, callTimes, events };
}

/** Sends attempts with retries. */
export function tRetries(attempt: TSend, backoffMs = 100) {
  const send = withRetries(({ request, deadline }) => attempt(request, deadline), { backoffMs });
  return (request = get, deadline = tDeadline()) => send({ request, deadline, context: tRequestContext(), retries: 0 });
}
