import type { KnownBanks } from '../../../banks/known-banks.ts';
import type { Signal } from '../../../base/async/signal.ts';
import type { TimeSlices } from '../../../base/async/time-slices.ts';
import type { Caller } from '../../callers/caller.ts';
import type { PaidBudgets } from '../../callers/paid-budget.ts';
import {
  type CallLimit,
  type CallOrigin,
  type CallRule,
  createRequestContext,
  limitCalls,
  type RequestContext,
  type ReserveCall,
} from '../../request-context.ts';
import type { Trace } from '../../trace.ts';
import type { Allowance } from '../../upstream/allowance/allowance.ts';
import type { IbanIds } from './iban-ids.ts';
import { Loaders } from './loaders.ts';
import { QueryLimiter, type QueryLimits } from './query-limits.ts';
import { type PaidServices, quoteServices } from './quote.ts';

/** Shared by the resolvers of all requests. */
export interface Services extends PaidServices {
  /** The allowance of each upstream. */
  allowances: readonly Pick<Allowance, 'service' | 'status'>[];
  /** The paid calls of each caller. */
  budgets: Pick<PaidBudgets, 'reserve' | 'status'>;
  /** What the bank lists of the gateway say without an upstream call. */
  knownBanks: Pick<KnownBanks, 'has' | 'status' | 'accountCheckMethod' | 'bics' | 'schemes' | 'lists'>;
  /** The ids of IBAN validations. */
  ibanIds: IbanIds;
  limits: QueryLimits;
  /** Whether only the machine of the gateway can call it, so that all anonymous requests are of one user. */
  isOnlyLocal: boolean;
  /** For work that takes long in one request: a thousand suggestions take 80 ms. */
  slices: TimeSlices;
}

/** Created for each request. */
export interface Context {
  services: Services;
  caller: Caller;
  loaders: Loaders;
  limiter: QueryLimiter;
  /** Valid IBANs that were suggested for invalid ones. */
  suggestions: Map<string, Promise<string[]>>;
  requestContext: RequestContext;
  /** Null: the request says nothing of its paid calls. */
  callLimit: CallLimit | null;
  /** The time slices in which a large operation is completed; null: it is small, and completed at once. */
  slices: TimeSlices | null;
}

/**
 * @param signal aborts when the client disconnects
 * @param isSliced whether the operation is completed in time slices
 * @param rule null: all calls are made that the caller's budget permits
 */
export function createContext(
  allServices: Services,
  caller: Caller,
  signal: Signal,
  trace: Trace | null = null,
  isSliced = false,
  origin: Partial<CallOrigin> = { caller: caller.name },
  rule: CallRule | null = null,
): Context {
  const services = rule?.kind === 'quote' ? quoteServices(allServices, rule.quote, caller.id) : allServices;
  const { bankData, essays } = services;
  const { bankDataCalls, essayCalls } = caller.limits;
  const hasBudget = bankDataCalls !== null || essayCalls !== null || caller.toolLimits !== undefined;
  const budgeted: ReserveCall | null = hasBudget ? (service) => services.budgets.reserve(caller, service) : null;
  const callLimit = rule?.kind === 'limit' ? { left: rule.maxCalls } : null;
  const reserveCall = callLimit ? limitCalls(callLimit, budgeted) : budgeted;
  const requestContext = createRequestContext(signal, caller.id, reserveCall, trace, origin);
  const limiter = new QueryLimiter(services.limits);
  const slices = isSliced ? services.slices : null;
  const loaders = new Loaders({ bankData, essays, limiter, context: requestContext });
  return { services, caller, limiter, requestContext, callLimit, loaders, suggestions: new Map(), slices };
}

/** Limits how long the response is fresh if it has a value from the lists of the gateway, as an import may replace them. */
export function limitToListFreshness({ freshness }: RequestContext): void {
  freshness.freshUntil = Math.min(freshness.freshUntil, Date.now() + listFreshMs);
}

const listFreshMs = 60_000;
