import type { ServiceName } from '../../base/errors.ts';
import type { RedactSecrets } from '../../base/redact.ts';
import type { RequestContext } from '../request-context.ts';
import type { Events, OperationOutcome } from '../telemetry/events.ts';
import { type Allowance, createAllowance } from './allowance/allowance.ts';
import type { CountOptions } from './allowance/period-count.ts';
import { createAttempt } from './attempt.ts';
import { type CallsOptions, createCalls } from './call.ts';
import { Deadline } from './deadline.ts';
import { createCircuitBreaker, createRetryAfterBlock, guardWithin, isUpstreamFailure } from './guards.ts';
import type { AnswerFault, Outcome, UpstreamRequest } from './outcome.ts';
import { type CallQueue, createCallQueue } from './queue.ts';
import { withRetries } from './retries.ts';

export interface UpstreamClient {
  /** Begins operations that have one deadline. */
  open(context: RequestContext): UpstreamCalls;
  /** Performs one operation. */
  send(request: UpstreamRequest, context: RequestContext): ReturnType<UpstreamCalls['send']>;
  status: CallQueue['status'];
  close(): Promise<void>;
}

/** Operations with one deadline. */
export interface UpstreamCalls {
  /**
   * Performs one operation, retries included. Rejects only if the caller aborts, with the signal's reason; a read that was sent is
   * completed nevertheless, because it is paid for.
   */
  send(request: UpstreamRequest): Promise<Outcome>;
  /** To be called when all operations have settled. */
  end(): void;
}

interface UpstreamClientOptions extends CallsOptions {
  /** Deadline of an operation: queueing, attempts and pauses between them. A write restarts it after queueing. */
  timeoutMs: number;
  maxQueue: number;
  /** Upper bound of the pause before the first retry. */
  backoffMs: number;
  allowance: Allowance;
  events: Pick<Events, 'callBegins' | 'callEnded' | 'upstreamOperationEnded' | 'circuitChanged'>;
}

/** JSON over HTTP to one service, with deadlines, retries, a queue, circuit breakers and the monthly allowance. */
export function createUpstreamClient(options: UpstreamClientOptions): UpstreamClient {
  const { service, allowance, timeoutMs, maxConcurrency, maxQueue, backoffMs, events } = options;
  const { makeCall, close } = createCalls(options);
  const queue = createCallQueue({ maxConcurrency, maxQueue });
  const attempt = createAttempt({
    service,
    queue,
    // A blocked call is neither a success nor a failure of the circuit.
    createGuard: (path) =>
      guardWithin(
        createRetryAfterBlock(),
        createCircuitBreaker((state) => events.circuitChanged(service, path, state)),
      ),
    allowance,
    makeCall,
    events,
  });
  const sendWithRetries = withRetries(attempt, { backoffMs });

  return {
    open,
    send(request, context) {
      const { send, end } = open(context);
      return send(request).finally(end);
    },
    status: queue.status,
    close,
  };

  function open(context: RequestContext): UpstreamCalls {
    const deadline = new Deadline(context.signal, timeoutMs);
    return {
      async send(request) {
        context.signal.throwIfAborted();
        const outcome = await sendWithRetries({ request, deadline, context, retries: 0 });
        const refusal = outcome.kind === 'answered' ? refusals.get(outcome.fault ?? outcome.status) : undefined;
        events.upstreamOperationEnded(service, isUpstreamFailure(outcome) ? 'failed' : (refusal ?? outcome.kind));
        return outcome;
      },
      end: deadline.end,
    };
  }
}

/** How an operation ends, by the status of its answer, or by what is wrong with it. */
const refusals = new Map<number | AnswerFault, OperationOutcome>([
  ['allowance', 'refused'],
  ['credentials', 'rejected'],
  [401, 'rejected'],
  [402, 'refused'],
  [403, 'rejected'],
  [429, 'refused'],
]);

interface UpstreamFactoryOptions extends Pick<CountOptions, 'store' | 'replicas'> {
  config: {
    upstreamConcurrency: number;
    /** How long a look-up waits until its call is counted, while many are left; null: until it is stored. */
    store: { countTimeoutMs: number | null };
  };
  limits?: Partial<UpstreamLimits> | undefined;
  redactSecrets: RedactSecrets;
  events: Events;
}

/** Tests replace them. */
export interface UpstreamLimits {
  /**
   * Maximum size of a response, in bytes. It is decoded, redacted and parsed in one go, which takes up to 25 ms per 500 kB. A page of
   * 100 banks has 100 kB at most, and an essay of 2,000 words, with each letter escaped, 150 kB.
   */
  maxResponseBytes: number;
  /** Calls that wait for others to end; further ones fail at once. */
  maxQueue: number;
  /** Upper bound of the delay before the first retry, in milliseconds; it doubles with each retry. */
  backoffMs: number;
}

const defaultLimits: Readonly<Record<ServiceName, UpstreamLimits>> = {
  'bank-data': { maxResponseBytes: 250_000, maxQueue: 2_000, backoffMs: 100 },
  essays: { maxResponseBytes: 500_000, maxQueue: 2_000, backoffMs: 100 },
};

interface UpstreamSettings {
  /** Null: the self-hosted service, which the process starts. */
  upstream: object | null;
  timeoutMs: number;
  monthlyAllowance: number | null;
}

export type CreateUpstream = ReturnType<typeof createUpstreamFactory>;

/** Creates the client of each service, and its allowance, with what they have in common. */
export function createUpstreamFactory({
  config,
  store,
  replicas,
  limits,
  redactSecrets,
  events,
}: UpstreamFactoryOptions) {
  return (
    service: ServiceName,
    /** Its key is read for each call. */
    access: Readonly<{ url: string; apiKey: string }>,
    keyHeader: string,
    { upstream, timeoutMs, monthlyAllowance: limit }: UpstreamSettings,
  ) => {
    const maxWaitMs = service === 'bank-data' ? config.store.countTimeoutMs : null;
    const allowance = createAllowance({ service, limit, store, replicas, maxWaitMs, events });
    const client = createUpstreamClient({
      service,
      baseUrl: access.url,
      key: { header: keyHeader, access },
      isSelfHosted: upstream === null,
      timeoutMs,
      ...defaultLimits[service],
      ...limits,
      maxConcurrency: config.upstreamConcurrency,
      allowance,
      redactSecrets,
      events,
    });
    return { url: access.url, client, allowance };
  };
}
