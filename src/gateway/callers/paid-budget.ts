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

type BudgetOwner = Pick<Caller, 'id' | 'limits' | 'toolLimits'> &
  Pick<ToolLimit, 'ofCall'> & {
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
  /** When it was used last, in milliseconds since 1970. */
  usedAt: number;
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
  /** Limits of single calls, which must not evict budgets. */
  const calls = new Map<string, OpenBudget>();

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
    /** What is left of the budgets in memory, as far as this process knows. */
    *remaining(): Iterable<{ caller: string; service: ServiceName; remaining: number }> {
      for (const { caller, service, count } of budgets.values()) {
        const remaining = count.known()?.remaining;
        if (caller !== null && remaining != null) yield { caller, service, remaining };
      }
    },
    /** Stores everything that was counted, if the store works. Await it before the store is closed. */
    async flush() {
      await Promise.all([...budgets.values(), ...calls.values()].map(({ count }) => count.flush()));
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
    const { calls: limit, period } = budget;
    const open = caller.ofCall ? calls : budgets;
    const id = `${service}:${caller.id}`;
    const known = open.get(id);
    open.delete(id);
    if (known?.calls === limit && known.period === period) {
      open.set(id, { ...known, usedAt: Date.now() });
      return known.count;
    }
    if (known) void known.count.flush();
    if (open.size >= maxBudgets && !evictOldest(open)) return null;
    const count = createPeriodCount({
      store,
      key: `budget:${id}`,
      period,
      limit,
      // A budget that could not be read since it was opened is not known, also without replicas.
      replicas: caller.ofCall === 'local' ? null : (replicas ?? one),
      ofCall: caller.ofCall,
      // Processes make no more calls than a user has agreed to, however slow the store is.
      maxWaitMs: service === 'bank-data' && caller.ofCall !== 'shared' ? countTimeoutMs : null,
      onStoreFailed(reason) {
        if (isStoreUp) events.budgetsNotStored(reason);
        isStoreUp = false;
      },
      onStoreRecovered() {
        isStoreUp = true;
      },
      onRestored: (calls) => events.countRestored(service, calls),
    });
    open.set(id, { ...budget, caller: caller.name, service, count, usedAt: Date.now() });
    return count;
  }

  /** False while the store fails, and the count of the oldest, which would be lost, may still be used. */
  function evictOldest(open: Map<string, OpenBudget>): boolean {
    const [oldest] = open;
    if (oldest === undefined) return false;
    const [id, { count, usedAt }] = oldest;
    // This write also shows whether the store works again.
    void count.flush();
    const isOver = open === calls && Date.now() - usedAt > callEndsMs;
    return (isStoreUp || isOver) && open.delete(id);
  }
}

/** Longer than a consent is valid, and than a call takes; an order that waits longer is not sent while the store fails. */
const callEndsMs = 900_000;

/** Has the calls that are counted in a limit of a tool. */
export function ownerOfTool(
  { id, name, limits }: BudgetOwner,
  { key, maxCalls, isShown, ofCall }: ToolLimit,
): BudgetOwner {
  const calls: CallBudget = { calls: maxCalls, period: 'day' };
  const toolLimits = { ...limits, bankDataCalls: calls, essayCalls: calls };
  return { id: `${id} ${key}`, name: isShown ? `${name} ${key}` : null, limits: toolLimits, ofCall };
}

function budgetOf({ limits }: BudgetOwner, service: ServiceName): CallBudget | null {
  return service === 'bank-data' ? limits.bankDataCalls : limits.essayCalls;
}

const one = () => 1;

function toBudgetedCall(reserved: Reserved): BudgetedCall {
  return reserved.kind === 'exhausted' ? { ...reserved, kind: 'budget-exhausted' } : reserved;
}
