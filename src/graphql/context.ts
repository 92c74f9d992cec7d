import type { Signal } from '../async/signal.ts';
import type { BankDataPort } from '../bank-data/bank-data.ts';
import type { EssayArchive, EssayGenerator } from '../essays/essays.ts';
import { createRequestContext, type RequestContext } from '../request-context.ts';
import type { AllowanceStatus } from '../upstream/allowance/allowance.ts';
import { createLoaders, type Loaders } from './loaders.ts';
import { createQueryBudget, type QueryBudget, type QueryLimits } from './query-budget.ts';
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
export interface Context extends Services {
  loaders: Loaders;
  budget: QueryBudget;
  suggestIbans: SuggestIbans;
  requestContext: RequestContext;
}

/** @param signal aborts when the client disconnects */
export function createContext(services: Services, limits: QueryLimits, signal: Signal): Context {
  const requestContext = createRequestContext(signal);
  const budget = createQueryBudget(limits);
  return {
    ...services,
    budget,
    requestContext,
    loaders: createLoaders(services.bankData, budget, requestContext),
    suggestIbans: createSuggestIbans(services.isKnownBank),
  };
}
