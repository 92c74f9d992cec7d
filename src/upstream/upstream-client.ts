import type { ServiceName } from '../errors.ts';
import type { RequestContext } from '../request-context.ts';
import type { CircuitEvent, Events } from '../telemetry/events.ts';
import type { RedactSecrets } from '../telemetry/redact.ts';
import type { Allowance } from './allowance/allowance.ts';
import { createAttempt } from './attempt.ts';
import { type Bulkhead, createBulkhead } from './bulkhead.ts';
import { createCircuitBreaker } from './circuit-breaker.ts';
import { createDeadlines } from './deadline.ts';
import { isUpstreamFailure, type Outcome, shed, type UpstreamRequest } from './operation.ts';
import { createReserve } from './reserve.ts';
import { withRetries } from './retries.ts';
import { createRetryAfterBlock } from './retry-after.ts';
import { createTransport } from './transport.ts';

export interface UpstreamClient {
  /** Performs one operation, retries included. Rejects only when the caller aborts, with the signal's reason. */
  send(request: UpstreamRequest, context: RequestContext): PromiseLike<Outcome>;
  status: Bulkhead['status'];
  close(): Promise<void>;
}

interface UpstreamClientOptions {
  service: ServiceName;
  baseUrl: string;
  /** Sent with every request, including the API key. */
  headers: Readonly<Record<string, string>>;
  /** Whether the service runs inside the process: then it receives the trace context of a request. */
  isSelfHosted?: boolean;
  /** Deadline of an operation: queueing, attempts and pauses between them. A write restarts it after queueing. */
  timeoutMs: number;
  maxResponseBytes: number;
  maxConcurrency: number;
  maxQueue: number;
  /** Upper bound of the pause before the first retry. */
  backoffMs: number;
  allowance: Allowance;
  redactSecrets: RedactSecrets;
  events: Pick<Events, 'upstreamCalled' | 'callPaid' | 'upstreamOperationEnded' | CircuitEvent>;
}

/** JSON over HTTP to one service, with deadlines, retries, bulkhead, circuit breaker and monthly allowance. */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const { service, allowance, timeoutMs, maxConcurrency, maxQueue, backoffMs, events } = options;
  const { makeCall, close } = createTransport(options);
  const deadlines = createDeadlines(timeoutMs);
  const bulkhead = createBulkhead({ maxConcurrency, maxQueue });
  const attempt = createAttempt({
    bulkhead,
    createCircuitBreaker: (path) =>
      createCircuitBreaker({
        onOpened: () => events.circuitOpened(service, path),
        onHalfOpened: () => events.circuitHalfOpened(service, path),
        onClosed: () => events.circuitClosed(service, path),
      }),
    createRetryAfterBlock,
    reserve: createReserve(service, allowance),
    makeCall,
    onPaid: () => events.callPaid(service),
  });
  const onEnded = (outcome: Outcome) =>
    events.upstreamOperationEnded(service, isUpstreamFailure(outcome) ? 'failed' : outcome.kind);
  const sendWithRetries = withRetries(attempt, { backoffMs, onEnded });

  return {
    send(request, context) {
      const { signal, queuedSince } = context;
      if (signal.aborted) return Promise.reject(signal.reason);
      const queuedMs = elapsedSince(queuedSince);
      if (queuedMs >= timeoutMs) return end(shed);
      const elapsedMs = Math.max(queuedMs, elapsedSince(request.startedAt));
      if (elapsedMs >= timeoutMs) return end({ kind: 'failed', reason: 'timed-out', text: '' });
      return sendWithRetries(request, deadlines.start(signal, elapsedMs), context);
    },
    status: bulkhead.status,
    close,
  };

  function end(outcome: Outcome): Promise<Outcome> {
    onEnded(outcome);
    return Promise.resolve(outcome);
  }
}

function elapsedSince(time: number | null | undefined): number {
  return time == null ? 0 : performance.now() - time;
}
