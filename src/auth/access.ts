import { type AccessConfig, hasCallers } from '../config/access-config.ts';
import type { StoreConfig } from '../config/read-config.ts';
import type { Store } from '../stores/store.ts';
import type { Events } from '../telemetry/events.ts';
import type { Caller } from './caller.ts';
import { createIdentify, createRefusal, type Refusal, type Unsigned } from './identify.ts';
import { createPaidBudgets } from './paid-budget.ts';
import { createRateLimit, type TakeBlock } from './rate-limit.ts';
import type { SignedParams } from './router-signature.ts';

export type Access = ReturnType<typeof createAccess>;

interface AccessOptions {
  access: AccessConfig;
  /** Where requests and calls are counted. */
  storeConfig: StoreConfig;
  store: Store;
  /** Counts requests where Redis does not. By default, in the memory of this process. */
  takeLocally: TakeBlock | undefined;
  events: Events;
}

/** Who may call, how often, and how much. @throws ConfigError if the file with API keys is invalid */
export function createAccess({ access, storeConfig, store, takeLocally, events }: AccessOptions) {
  const { redis, secret, replicas, countTimeoutMs } = storeConfig;
  const identify = createIdentify({ access, nameSecret: secret, events });
  const rateLimit = createRateLimit({
    shared: redis && secret ? { redis, secret } : null,
    replicas: replicas ?? 1,
    ...(redis === null && takeLocally && { takeLocally }),
    events,
  });
  const budgets = createPaidBudgets({ store, replicas, countTimeoutMs, events });

  return {
    /**
     * Identifies the caller by the headers of a request, before its body is read, and counts the request. A promise only
     * for new tokens, and while requests are counted.
     * @param rawHeaders names and values in turn, as in `IncomingMessage.rawHeaders`
     */
    checkHeaders(rawHeaders: readonly string[]): Caller | Refusal | Unsigned | Promise<Caller | Refusal> {
      const caller = identify.byHeaders(rawHeaders);
      if (caller instanceof Promise) return caller.then(countRequest);
      return caller.kind === 'unsigned' ? caller : countRequest(caller);
    },
    /** The same for an unsigned request, by its parameters. */
    checkParams: (params: SignedParams) => countRequest(identify.byParams(params)),
    budgets,
    /** The callers that have API keys now. */
    callers: identify.callers,
    /** Whether callers differ. */
    hasCallers: hasCallers(access),
    /** Stores everything that was counted. Await it before the store is closed. */
    async close() {
      await Promise.all([budgets.flush(), identify.close(), rateLimit.close()]);
    },
  };

  function countRequest(caller: Caller | Refusal): Caller | Refusal | Promise<Caller | Refusal> {
    if (caller.kind === 'refused') return caller;
    const seconds = rateLimit.count(caller);
    if (seconds instanceof Promise) return seconds.then((seconds) => (seconds === null ? caller : refuse(seconds)));
    return seconds === null ? caller : refuse(seconds);
  }
}

function refuse(seconds: number): Refusal {
  const message = `This caller has sent its requests of this minute; retry in ${seconds} s.`;
  return createRefusal(429, 'RATE_LIMITED', message, { 'retry-after': String(seconds) });
}
