import { createPaidBudgets } from '../../../../src/gateway/callers/paid-budget.ts';
import { redisUrl } from '../../../../src/gateway/config/redis-url.ts';
import { createRedisStore } from '../../../../src/gateway/stores/redis-store.ts';

/* A child process of tests: makes calls of one caller until the budget is exhausted, and prints one character for each. */

const { REDIS_URL = '', CALLS = '' } = process.env;
const events = { storeDown() {}, storeUp() {}, budgetsNotStored() {}, countRestored() {} };
const store = createRedisStore({ server: redisUrl.parse(REDIS_URL), commandTimeoutMs: 10_000, events });
const budgets = createPaidBudgets({ store, replicas: () => 3, events });
const budget = { calls: Number(CALLS), period: 'month' } as const;
const limits = { requestsPerMinute: null, bankDataCalls: budget, essayCalls: null, maxQueryCost: null };

async function makeCalls(): Promise<void> {
  for (;;) {
    const call = await budgets.reserve({ id: 'caller', name: 'caller', limits }, 'bank-data');
    if (call?.kind !== 'reserved') return;
    process.stdout.write('.');
  }
}

await Promise.all(Array.from({ length: 8 }, makeCalls));
await budgets.flush();
await store.close();
