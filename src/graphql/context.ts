import type { Signal } from '../async/signal.ts';
import type { BankDataPort } from '../bank-data/bank-data.ts';
import type { EssayArchive, EssayGenerator } from '../essays/essays.ts';
import { createRequestContext, type RequestContext } from '../request-context.ts';
import type { AllowanceStatus } from '../upstream/allowance/allowance.ts';
import { Loaders } from './loaders.ts';
import { QueryBudget, type QueryLimits } from './query-budget.ts';
import { createSuggestIbans, type SuggestIbans } from './suggestions.ts';

/** From the HTTP request handler; empty without one, as in tests. */
export interface ServerContext {
  requestId?: string;
}

/** Shared by the resolvers of all requests. */
export interface Services {
  bankData: BankDataPort;
  essays: EssayGenerator;
  essayArchive: EssayArchive;
  /** The status of each upstream's allowance. Makes no upstream call. */
  allowances: () => Promise<readonly AllowanceStatus[]>;
  /** Whether the shipped bank lists contain this bank code. Ranks suggestions without an upstream call. */
  isKnownBank: (country: string, bankCode: string) => boolean;
}

/** Created for each request. */
export interface Context {
  services: Services;
  loaders: Loaders;
  budget: QueryBudget;
  suggestIbans: SuggestIbans;
  requestContext: RequestContext;
}

/** @param signal aborts when the client disconnects */
export function createContext(services: Services, limits: QueryLimits, signal: Signal): Context {
  const requestContext = createRequestContext(signal);
  const budget = new QueryBudget(limits);
  const loaders = new Loaders(services.bankData, budget, requestContext);
  return { services, budget, requestContext, loaders, suggestIbans: createSuggestIbans(services.isKnownBank) };
}
