import type { ServiceName } from '../../base/errors.ts';
import type { RedactSecrets } from '../../base/redact.ts';
import type { BudgetExhausted, RequestContext } from '../request-context.ts';
import type { CallCause, Events, OperationOutcome } from '../telemetry/events.ts';
import { type Allowance, createAllowance } from './allowance/allowance.ts';
import { type CountOptions, type Reserved, reserveToo } from './allowance/period-count.ts';
import { Batch } from './batch.ts';
import { Circuit } from './circuit.ts';
import { type Connections, createConnections } from './connector.ts';
import { type Endpoint, isUpstreamFailure, type Outcome, type Refusal, refusalOf } from './outcome.ts';
import { type CallService, PaidCall, type Slot } from './paid-call.ts';
import { CallQueue } from './queue.ts';

export type UpstreamClient = ReturnType<typeof createUpstreamClient>;

interface UpstreamClientOptions extends Pick<CallService, 'service' | 'maxResponseBytes' | 'redactSecrets'> {
  baseUrl: string;
  /** Sent with every request. It is read for each, as it may be replaced. */
  key: { header: string; access: Readonly<{ apiKey: string }> };
  /** Limit for the calls in flight. */
  maxConcurrency: number;
  isSelfHosted?: boolean;
  /** Deadline of a call: queueing, attempts and pauses between them. An order restarts it after queueing. */
  timeoutMs: number;
  maxQueue: number;
  /** Upper bound of the pause before the first retry, which is random, from 0; it doubles with each retry. */
  backoffMs: number;
  allowance: Pick<Allowance, 'reserve'>;
  events: Pick<Events, 'orderCallBegins' | 'callEnded' | 'upstreamOperationEnded' | 'circuitChanged'>;
  connect?: typeof createConnections;
}

/** Paid calls to one service: JSON over HTTP, with deadlines, retries, a queue, circuit breakers and the monthly allowance. */
export function createUpstreamClient({ connect = createConnections, ...options }: UpstreamClientOptions) {
  const { service, allowance, timeoutMs, maxConcurrency, maxQueue, key, events } = options;
  const { origin, pathname } = new URL(options.baseUrl);
  const queue = new CallQueue({ maxConcurrency, maxQueue });
  const circuits = new Map<string, Circuit>();
  const open = (isKept: boolean) => connect({ origin, maxCalls: maxConcurrency, isKept });
  let kept = open(true);
  const writing = open(false);
  /** Pools with calls in flight, whose connections close when these have ended. */
  const replaced = new Set<Connections>();
  let retriesLeft = maxBurst;
  let headers: readonly string[] = [];
  let apiKey: string | null = null;

  const calls: CallService = {
    ...options,
    origin,
    basePath: pathname.replace(/\/$/, ''),
    isSelfHosted: options.isSelfHosted ?? false,
    queue,
    headers: () => headers,
    circuitOf(path) {
      if (apiKey !== key.access.apiKey) useKey();
      let circuit = circuits.get(path);
      if (circuit === undefined) {
        circuit = new Circuit((state, outage) => events.circuitChanged(service, path, state, outage));
        circuits.set(path, circuit);
      }
      return circuit;
    },
    reserve(context) {
      const budgeted = context.reserveCall?.(service) ?? null;
      if (budgeted === null) return allowance.reserve();
      return reserveBoth(budgeted);
    },
    connectionsOf: (method) => (method === 'POST' ? writing : kept),
    replaceConnections() {
      const mixedUp = kept;
      replaced.add(mixedUp);
      void mixedUp.close().then(() => replaced.delete(mixedUp));
      kept = open(true);
    },
    takeRetry() {
      if (retriesLeft < 1) return false;
      retriesLeft -= 1;
      return true;
    },
    nameOutcome(outcome) {
      const refusal = outcome.kind === 'answered' ? refusalOf(outcome) : null;
      if (refusal !== null) return refused[refusal];
      if (outcome.kind === 'blocked' && outcome.cause === 'credentials') return 'rejected';
      return isUpstreamFailure(outcome) ? 'failed' : (outcome.kind as OperationOutcome);
    },
  };

  return {
    /** Begins calls that have one deadline. */
    open: (context: RequestContext) => new Batch(context, timeoutMs),
    /**
     * Makes a read, retries included.
     * @param settle called once. If the caller has left, with `abandoned`, unless the read was sent: it is completed, as it is paid for
     */
    call<Input, Answer>(
      endpoint: Endpoint<Input, Answer>,
      input: Input,
      { batch, cause = 'new' }: { batch: Batch; cause?: CallCause },
      settle: (outcome: Outcome<Answer>) => void,
    ): void {
      refillRetries();
      new PaidCall(calls, endpoint, input, batch, cause, settle as (result: unknown) => void).start();
    },
    /** Reserves an order: a slot to send it, or why it cannot be sent. Does not reject. */
    reserve<Input, Answer>(
      endpoint: Endpoint<Input, Answer>,
      context: RequestContext,
    ): Promise<Outcome<Answer> | Slot<Input, Answer>> {
      refillRetries();
      const batch = new Batch(context, timeoutMs);
      return new Promise((resolve) => new PaidCall(calls, endpoint, undefined, batch, 'new', resolve).start());
    },
    status: () => queue.status(),
    /** Calls in flight fail. */
    async close(): Promise<void> {
      await Promise.all([kept, writing, ...replaced].map((connections) => connections.destroy()));
    },
  };

  /** What was refused with another key may be accepted. */
  function useKey(): void {
    apiKey = key.access.apiKey;
    headers = ['accept-encoding', 'identity', key.header, apiKey];
    for (const circuit of circuits.values()) circuit.close();
  }

  function refillRetries(): void {
    retriesLeft = Math.min(maxBurst, retriesLeft + perCall);
  }

  async function reserveBoth(
    budgeted: NonNullable<ReturnType<NonNullable<RequestContext['reserveCall']>>>,
  ): Promise<Reserved | BudgetExhausted> {
    const budget = await budgeted;
    return budget.kind === 'reserved' ? reserveToo(budget, allowance.reserve()) : budget;
  }
}

/** Average number of retries per call. */
const perCall = 0.1;
/** Number of retries that are possible at once before `perCall` limits them. */
const maxBurst = 10;

const refused: Readonly<Record<Refusal, OperationOutcome>> = { allowance: 'refused', credentials: 'rejected' };

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
