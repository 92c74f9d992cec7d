import type { ServiceName } from '../../base/errors.ts';
import type { Redact } from '../../base/redact.ts';
import type { Config } from '../config/read-config.ts';
import type { BudgetExhausted, ReserveCall, Uncounted } from '../request-context.ts';
import type { OpenedStore } from '../stores/open-store.ts';
import type { Events } from '../telemetry/events.ts';
import type { Allowance } from '../upstream/allowance/allowance.ts';
import type { UpstreamClient } from '../upstream/upstream-client.ts';
import { createExhaustedError } from '../upstream/upstream-error.ts';
import { createEssayOrders } from './orders/essay-orders.ts';
import type { OrderRunsOptions } from './orders/order-runs.ts';
import {
  type EssayAllowanceExhausted,
  type EssayFieldProblem,
  type EssayGenerator,
  essayLimits,
  type InvalidEssayInput,
  type OrderCaller,
  type OrderInput,
} from './port.ts';
import { createRestEssays } from './rest/rest-essays.ts';

interface PaidEssaysOptions extends Pick<OpenedStore, 'store' | 'isShared' | 'onRecovered'> {
  client: Pick<UpstreamClient, 'send'>;
  config: Pick<Config, 'essays'>;
  allowance: Pick<Allowance, 'findRefusal'>;
  /** The paid calls of each caller. */
  budgets: {
    reserve(caller: OrderCaller, service: ServiceName): ReturnType<ReserveCall>;
    findRefusal(caller: OrderCaller, service: ServiceName): Promise<BudgetExhausted | Uncounted | null>;
  };
  isWithdrawn: OrderRunsOptions['isWithdrawn'];
  redact: Redact;
  events: Events;
}

/** Orders of essays, with clients that wait (`generate`) or do not (`orders`), and the archive of essays. */
export function createPaidEssays(options: PaidEssaysOptions) {
  const { client, config, allowance, budgets, isWithdrawn, redact, events, ...openedStore } = options;
  const { upstream, modeNames, declared, keepDays, orders: orderLimits } = config.essays;
  const isSelfHosted = upstream === null;
  const keepMs = keepDays * 86_400_000;
  const sender = createRestEssays({ client, modeNames, declared, isSelfHosted, keepMs, redact, events });
  const essays = createEssayOrders({
    ...openedStore,
    ...orderLimits,
    sender,
    keepMs,
    rejectOrder: (order) => rejectInvalidOrder(order, events),
    findExhausted,
    reserveCallOf: (caller) => (service) => budgets.reserve(caller, service),
    isWithdrawn,
    events,
  });
  return { ...essays, ...withOrderPrecheck(essays, events) };

  async function findExhausted(caller: OrderCaller): Promise<EssayAllowanceExhausted | null> {
    const refusal = (await budgets.findRefusal(caller, 'essays')) ?? (await allowance.findRefusal());
    // Without the store, the order itself is refused.
    if (refusal === null || refusal.kind === 'uncounted') return null;
    const { message, code } = createExhaustedError('essays', refusal);
    return { kind: 'allowance-exhausted', message, code, renewsAt: refusal.renewsAt };
  }
}

/** Rejects orders that the service or the gateway does not accept, so that they never cost a paid call. */
export function withOrderPrecheck(generator: EssayGenerator, events: Pick<Events, 'essayOrdered'>): EssayGenerator {
  return {
    generate: async (order, context) => rejectInvalidOrder(order, events) ?? generator.generate(order, context),
  };
}

/** What is wrong with an order; null: nothing. */
function rejectInvalidOrder(
  { description, wordCount, titles, idempotencyKey }: OrderInput,
  events: Pick<Events, 'essayOrdered'>,
): InvalidEssayInput | null {
  const limits = essayLimits;
  const problems: EssayFieldProblem[] = [];
  const add = (field: EssayFieldProblem['field'], reason: EssayFieldProblem['reason'], max: number, message: string) =>
    problems.push({ field, reason, range: { min: reason === 'TOO_MANY' ? 0 : 1, max }, message });

  if (description.length > limits.description) {
    const message = `The description must have at most ${limits.description} characters.`;
    add('description', 'TOO_LONG', limits.description, message);
  } else if (description.trim() === '') {
    const message = 'The description must not be empty; describe the topic and the points to cover.';
    add('description', 'REQUIRED', limits.description, message);
  }
  if (wordCount < 1 || wordCount > limits.wordCount) {
    const message = `The number of words is ${wordCount}; it must be from 1 to ${limits.wordCount}.`;
    add('wordCount', 'OUT_OF_RANGE', limits.wordCount, message);
  }
  if (titles.length > limits.titles)
    add('titles', 'TOO_MANY', limits.titles, `There must be at most ${limits.titles} titles.`);
  if (titles.some((title) => title.length > limits.title))
    add('titles', 'TOO_LONG', limits.title, `A title must have at most ${limits.title} characters.`);
  if (titles.some((title) => title.trim() === ''))
    add('titles', 'REQUIRED', limits.title, 'A title is empty; remove or replace it.');
  if (idempotencyKey === '') {
    const message = 'The idempotency key is empty; choose a unique one, such as a UUID.';
    add('idempotencyKey', 'REQUIRED', limits.idempotencyKey, message);
  } else if (idempotencyKey !== null && idempotencyKey.length > limits.idempotencyKey) {
    const message = `The idempotency key must have at most ${limits.idempotencyKey} characters.`;
    add('idempotencyKey', 'TOO_LONG', limits.idempotencyKey, message);
  }
  if (problems.length === 0) return null;
  events.essayOrdered('rejected');
  const fields = new Set(problems.map(({ field }) => field));
  const [field = null] = fields.size === 1 ? fields : [];
  return { kind: 'invalid-input', field, message: problems.map(({ message }) => message).join(' '), problems };
}
