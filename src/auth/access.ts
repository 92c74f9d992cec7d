import type { AccessConfig } from '../config/access-config.ts';
import { hasCallers } from '../config/access-config.ts';
import type { StoreConfig } from '../config/gateway-config.ts';
import type { Store } from '../stores/store.ts';
import type { Events } from '../telemetry/events.ts';
import { type Admission, createAdmission } from './admission.ts';
import { createAuthentication } from './authenticate.ts';
import { type Caller, createCallerFactory } from './caller.ts';
import { createPaidBudgets, type PaidBudgets } from './paid-budget.ts';
import { createRateLimit } from './rate-limit.ts';

/** Who may call, how often, and how much. */
export interface Access {
  admission: Admission;
  budgets: PaidBudgets;
  /** Of requests within the process, which may use everything. */
  localCaller: Caller;
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
  events: Events;
}

/** @throws ConfigError if the file with API keys is invalid */
export function createAccess({ access, storeConfig, store, events }: AccessOptions): Access {
  const { redis, secret, replicas } = storeConfig;
  const authentication = createAuthentication({ access, nameSecret: secret, events });
  const rateLimit = createRateLimit({ shared: redis && secret ? { redis, secret, replicas } : null, events });
  const budgets = createPaidBudgets({ store, replicas: redis ? replicas : null, events });
  const createCaller = createCallerFactory({ ...access, defaultLimits: noLimits });
  return {
    admission: createAdmission(authentication, rateLimit),
    budgets,
    localCaller: createCaller({ kind: 'anonymous', name: '', scopes: ['bank-data', 'essays'] }),
    hasCallers: hasCallers(access),
    async close() {
      await Promise.all([budgets.flush(), authentication.close(), rateLimit.close()]);
    },
  };
}

const noLimits = { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null };
