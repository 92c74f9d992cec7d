import { type AccessConfig, hasCallers } from '../config/access-config.ts';
import type { StoreConfig } from '../config/read-config.ts';
import type { Store } from '../stores/store.ts';
import type { Events } from '../telemetry/events.ts';
import { type Caller, createCallerFactory } from './caller.ts';
import { createIdentify, type Refusal, type Unsigned } from './identify.ts';
import { createPaidBudgets, type PaidBudgets } from './paid-budget.ts';
import { createRateLimit, type TakeBlock } from './rate-limit.ts';
import type { SignedParams } from './router-signature.ts';

/** Who may call, how often, and how much. */
export interface Access {
  /**
   * Identifies the caller by the headers of a request, before its body is read, and counts the request. A promise only
   * for new tokens, and while requests are counted.
   * @param rawHeaders names and values in turn, as in `IncomingMessage.rawHeaders`
   */
  checkHeaders(rawHeaders: readonly string[]): Caller | Refusal | Unsigned | Promise<Caller | Refusal>;
  /** The same for an unsigned request, by its parameters. */
  checkParams(params: SignedParams): Caller | Refusal | Promise<Caller | Refusal>;
  /** Whether the headers of an earlier request still identify its caller, who may still use the same. Counts no request. */
  confirm(rawHeaders: readonly string[], caller: Caller): boolean | Promise<boolean>;
  budgets: PaidBudgets;
  /** The caller of requests within the process, which may use everything. */
  localCaller: Caller;
  /** The callers that have API keys now. */
  callers(): readonly Caller[];
  /** Whether callers differ. */
  hasCallers: boolean;
  /** Stores everything that was counted. Await it before the store is closed. */
  close(): Promise<void>;
}

interface AccessOptions {
  access: AccessConfig;
  /** Where requests and calls are counted. */
  storeConfig: StoreConfig;
  store: Store;
  /** Counts requests where Redis does not. By default, in the memory of this process. */
  takeLocally: TakeBlock | undefined;
  events: Events;
}

/** @throws ConfigError if the file with API keys is invalid */
export function createAccess({ access, storeConfig, store, takeLocally, events }: AccessOptions): Access {
  const { redis, secret, replicas, countTimeoutMs } = storeConfig;
  const identify = createIdentify({ access, nameSecret: secret, events });
  const rateLimit = createRateLimit({
    shared: redis && secret ? { redis, secret } : null,
    replicas: replicas ?? 1,
    ...(redis === null && takeLocally && { takeLocally }),
    events,
  });
  const budgets = createPaidBudgets({ store, replicas, countTimeoutMs, events });
  const createCaller = createCallerFactory({ ...access, defaultLimits: noLimits });

  return {
    checkHeaders(rawHeaders) {
      const caller = identify.byHeaders(rawHeaders);
      if (caller instanceof Promise) return caller.then(countRequest);
      return caller.kind === 'unsigned' ? caller : countRequest(caller);
    },
    checkParams: (params) => countRequest(identify.byParams(params)),
    confirm(rawHeaders, caller) {
      const found = identify.byHeaders(rawHeaders);
      return found instanceof Promise ? found.then((found) => isSame(found, caller)) : isSame(found, caller);
    },
    budgets,
    localCaller: createCaller({ kind: 'anonymous', name: '', scopes: ['bank-data', 'essays'] }),
    callers: identify.callers,
    hasCallers: hasCallers(access),
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

/** A caller without credentials in its headers was identified by the body, whose signature does not expire. */
function isSame(found: Caller | Refusal | Unsigned, { id, accessKey }: Caller): boolean {
  if (found.kind === 'unsigned') return true;
  return found.kind !== 'refused' && found.id === id && found.accessKey === accessKey;
}

const noLimits = { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null };

function refuse(seconds: number): Refusal {
  const message = `This caller has sent its requests of this minute; retry in ${seconds} s.`;
  return { kind: 'refused', status: 429, code: 'RATE_LIMITED', message, headers: { 'retry-after': String(seconds) } };
}
