import type { ServiceName } from '../../base/errors.ts';
import type { CallBudget } from '../config/callers.ts';
import type { BudgetExhausted, BudgetedCall, Uncounted } from '../request-context.ts';
import type { Replicas } from '../stores/gateway-count.ts';
import type { Store } from '../stores/store.ts';
import type { Events } from '../telemetry/events.ts';
import {
  createPeriodCount,
  type PeriodCount,
  type Reserved,
  reserveToo,
  uncounted,
} from '../upstream/allowance/period-count.ts';
import type { Caller, ToolLimit } from './caller.ts';

export interface BudgetStatus {
  service: ServiceName;
  /** Paid calls of this calendar day or month (UTC). */
  used: number;
  limit: number;
  remaining: number;
  renewsAt: Date;
}

type BudgetOwner = Pick<Caller, 'id' | 'limits' | 'toolLimits'> & {
  /** The name in metrics; null: not shown. */
  name: string | null;
};

export type PaidBudgets = ReturnType<typeof createPaidBudgets>;

interface PaidBudgetsOptions {
  store: Store;
  replicas: Replicas;
  /** How long a look-up waits until its call is counted, while many are left; null: until it is stored. */
  countTimeoutMs?: number | null;
  /** Limit for the budgets in memory. */
  maxBudgets?: number;
  events: Pick<Events, 'budgetsNotStored' | 'countRestored'>;
}

interface OpenBudget extends CallBudget {
  /** Name of the caller; null: not shown. */
  caller: string | null;
  service: ServiceName;
  count: PeriodCount;
}

/**
 * Counts like the allowance of the gateway, over all processes that share the store. The budgets that were used last are
 * in memory; others are read from the store when they are used again. While the store fails, no calls are sent for budgets that are
 * not in memory: only the store has their counts.
 */
export function createPaidBudgets({
  store,
  replicas,
  countTimeoutMs = null,
  maxBudgets = 20_000,
  events,
}: PaidBudgetsOptions) {
  let isStoreUp = true;
  /** Budgets in memory, in the order of their last use. */
  const budgets = new Map<string, OpenBudget>();

  return {
    /** Counts a call before it is sent; null if the caller has no budget for this service, and thus no limit. */
    reserve(caller: BudgetOwner, service: ServiceName): BudgetedCall | Promise<BudgetedCall> | null {
      return caller.toolLimits ? reserveAll(caller, caller.toolLimits, service) : reserve(caller, service);
    },
    /** Why a call would be refused now; null if it would be counted, or the caller has no budget. Counts nothing. */
    async findRefusal(caller: BudgetOwner, service: ServiceName): Promise<BudgetExhausted | Uncounted | null> {
      const budget = budgetOf(caller, service);
      if (budget === null) return null;
      const count = openCount(caller, service, budget);
      const refusal = count === null ? uncounted : await count.findRefusal();
      return refusal?.kind === 'exhausted' ? { ...refusal, kind: 'budget-exhausted' } : refusal;
    },
    /** The caller's budget for a service; null if it has none. */
    async status(caller: BudgetOwner, service: ServiceName): Promise<BudgetStatus | Uncounted | null> {
      const budget = budgetOf(caller, service);
      if (budget === null) return null;
      const status = await openCount(caller, service, budget)?.status();
      if (!status) return uncounted;
      const { used, renewsAt } = status;
      return { service, used, limit: budget.calls, remaining: Math.max(0, budget.calls - used), renewsAt };
    },
    /** The budgets in memory, as far as this process knows. */
    *known() {
      for (const { caller, service, count } of budgets.values()) {
        const { used = 0, limit = null, remaining = null } = count.known() ?? {};
        if (caller !== null && limit !== null && remaining !== null) yield { caller, service, limit, used, remaining };
      }
    },
    /** Stores everything that was counted, if the store works. Await it before the store is closed. */
    async flush() {
      await Promise.all([...budgets.values()].map(({ count }) => count.flush()));
    },
  };

  function reserve(caller: BudgetOwner, service: ServiceName): BudgetedCall | Promise<BudgetedCall> | null {
    const budget = budgetOf(caller, service);
    if (budget === null) return null;
    const reserved = openCount(caller, service, budget)?.reserve() ?? uncounted;
    return reserved instanceof Promise ? reserved.then(toBudgetedCall) : toBudgetedCall(reserved);
  }

  /** Counts a call in each limit of a tool, and in the caller's own budget, or in none of them. */
  async function reserveAll(
    caller: BudgetOwner,
    toolLimits: readonly ToolLimit[],
    service: ServiceName,
  ): Promise<BudgetedCall> {
    let all: BudgetedCall & { kind: 'reserved' } = { kind: 'reserved', release() {} };
    for (const owner of [...toolLimits.map((limit) => ownerOfTool(caller, limit)), caller]) {
      const reserving = reserve(owner, service);
      if (reserving === null) continue;
      const reserved: BudgetedCall = await reserveToo(all, reserving);
      if (reserved.kind !== 'reserved') return reserved;
      all = reserved;
    }
    return all;
  }

  /** Null if there is no place in memory for it. */
  function openCount(caller: BudgetOwner, service: ServiceName, budget: CallBudget): PeriodCount | null {
    const { calls: limit, period, price } = budget;
    const id = `${service}${price === undefined ? '' : ` ${price.currency}`}:${caller.id}`;
    const known = budgets.get(id);
    budgets.delete(id);
    if (known?.calls === limit && known.period === period) {
      budgets.set(id, known);
      return known.count;
    }
    if (known) void known.count.flush();
    if (budgets.size >= maxBudgets && !evictOldest()) return null;
    const count = createPeriodCount({
      store,
      key: `budget:${id}`,
      period,
      limit,
      unit: price?.millionths,
      // A budget that could not be read since it was opened is not known, also without replicas.
      replicas: replicas ?? one,
      maxWaitMs: service === 'bank-data' ? countTimeoutMs : null,
      onStoreFailed(reason) {
        if (isStoreUp) events.budgetsNotStored(reason);
        isStoreUp = false;
      },
      onStoreRecovered() {
        isStoreUp = true;
      },
      onRestored: (calls) => events.countRestored(service, calls),
    });
    budgets.set(id, { ...budget, caller: caller.name, service, count });
    return count;
  }

  /** False while the store fails, and the count of the oldest, which would be lost, may still be used. */
  function evictOldest(): boolean {
    const [oldest] = budgets;
    if (oldest === undefined) return false;
    const [id, { count }] = oldest;
    // This write also shows whether the store works again.
    void count.flush();
    return isStoreUp && budgets.delete(id);
  }
}

/** Has the calls that are counted in a limit of a tool. */
export function ownerOfTool({ id, name, limits }: BudgetOwner, { key, maxCalls, isShown }: ToolLimit): BudgetOwner {
  const calls: CallBudget = { calls: maxCalls, period: 'day' };
  const toolLimits = { ...limits, bankDataCalls: calls, essayCalls: calls };
  return { id: `${id} ${key}`, name: isShown ? `${name} ${key}` : null, limits: toolLimits };
}

function budgetOf({ limits }: BudgetOwner, service: ServiceName): CallBudget | null {
  return service === 'bank-data' ? limits.bankDataCalls : limits.essayCalls;
}

const one = () => 1;

function toBudgetedCall(reserved: Reserved): BudgetedCall {
  return reserved.kind === 'exhausted' ? { ...reserved, kind: 'budget-exhausted' } : reserved;
}
