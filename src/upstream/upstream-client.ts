import type { Continuation } from '../async/sync-promise.ts';
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
  /**
   * Performs one operation, retries included, and continues with its outcome; with `onRejected` only if the caller aborts, and
   * with the signal's reason. It may continue within this call.
   */
  send(request: UpstreamRequest, context: RequestContext, continuation: Continuation<Outcome>): void;
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
    send(request, context, continuation) {
      const { signal, queuedSince } = context;
      if (signal.aborted) {
        continuation.onRejected(signal.reason);
        return;
      }
      const queuedMs = elapsedSince(queuedSince);
      const elapsedMs = Math.max(queuedMs, elapsedSince(request.startedAt));
      if (elapsedMs < timeoutMs) {
        sendWithRetries(request, deadlines.start(signal, elapsedMs), context, continuation);
        return;
      }
      const outcome: Outcome = queuedMs >= timeoutMs ? shed : { kind: 'failed', reason: 'timed-out', text: '' };
      onEnded(outcome);
      continuation.onResolved(outcome);
    },
    status: bulkhead.status,
    close,
  };
}

function elapsedSince(time: number | null | undefined): number {
  return time == null ? 0 : performance.now() - time;
}
