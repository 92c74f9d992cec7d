import type { ServiceName } from '../../base/errors.ts';
import type { Redact } from '../../base/redact.ts';
import type { Config } from '../config/read-config.ts';
import {
  type BudgetExhausted,
  type CallLimit,
  noCallLeft,
  type ReserveCall,
  type Uncounted,
} from '../request-context.ts';
import type { OpenedStore } from '../stores/open-store.ts';
import type { Events } from '../telemetry/events.ts';
import type { Allowance } from '../upstream/allowance/allowance.ts';
import type { UpstreamClient } from '../upstream/upstream-client.ts';
import { createExhaustedError } from '../upstream/upstream-error.ts';
import { EssayOrderBook } from './orders/order-book.ts';
import type { RunParts } from './orders/order-run.ts';
import type { EssayAllowanceExhausted, OrderCaller } from './port.ts';
import { createRestEssays } from './rest/rest-essays.ts';

interface PaidEssaysOptions extends Pick<OpenedStore, 'store' | 'onRecovered'> {
  client: Pick<UpstreamClient, 'reserve'>;
  config: Pick<Config, 'essays'>;
  allowance: Pick<Allowance, 'findRefusal'>;
  /** The paid calls of each caller. */
  budgets: {
    reserve(caller: OrderCaller, service: ServiceName): ReturnType<ReserveCall>;
    findRefusal(caller: OrderCaller, service: ServiceName): Promise<BudgetExhausted | Uncounted | null>;
  };
  isWithdrawn: RunParts['isWithdrawn'];
  redact: Redact;
  events: Events;
}

/** Orders of essays. */
export function createPaidEssays(options: PaidEssaysOptions) {
  const { client, config, allowance, budgets, isWithdrawn, redact, events, ...openedStore } = options;
  const { upstream, modeNames, declared, keepDays, orders: orderLimits } = config.essays;
  const isSelfHosted = upstream === null;
  const keepMs = keepDays * 86_400_000;
  const sender = createRestEssays({ client, modeNames, declared, isSelfHosted, keepMs, redact, events });
  return new EssayOrderBook({
    ...openedStore,
    ...orderLimits,
    sender,
    keepMs,
    findExhausted,
    reserveCallOf: (caller) => (service) => budgets.reserve(caller, service),
    isWithdrawn,
    events,
  });

  async function findExhausted(
    caller: OrderCaller,
    callLimit: CallLimit | null,
  ): Promise<EssayAllowanceExhausted | null> {
    const isLimited = callLimit !== null && callLimit.left <= 0;
    const refusal = isLimited
      ? noCallLeft
      : ((await budgets.findRefusal(caller, 'essays')) ?? (await allowance.findRefusal()));
    // Without the store, the order itself is refused.
    if (refusal === null || refusal.kind === 'uncounted') return null;
    const { message, code } = createExhaustedError('essays', refusal);
    return { kind: 'allowance-exhausted', message, code, renewsAt: refusal.renewsAt };
  }
}
