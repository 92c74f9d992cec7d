import type { BankDataPort } from '../bank-data/bank-data.ts';
import type { EssayArchive, EssayGenerator } from '../essays/essays.ts';
import { createRequestContext, type RequestContext } from '../request-context.ts';
import type { AllowanceStatus } from '../upstream/allowance/allowance.ts';
import { createLoaders, type Loaders } from './loaders.ts';
import { createQueryBudget, type QueryBudget, type QueryLimits } from './query-budget.ts';

/** What the HTTP request handler passes to GraphQL; nothing where there is none, as in tests. */
export interface ServerContext {
  requestId?: string;
}

/** What the resolvers of every request use. */
export interface Services {
  bankData: BankDataPort;
  essays: EssayGenerator;
  essayArchive: EssayArchive;
  /** The status of each upstream's allowance; no upstream call. */
  allowances: () => Promise<readonly AllowanceStatus[]>;
  /** Whether a bank list at hand has this bank code: for ranking suggestions, no look-up. */
  isKnownBank: (country: string, bankCode: string) => boolean;
}

/** What the resolvers of one request use. */
export interface Context extends Services {
  loaders: Loaders;
  budget: QueryBudget;
  requestContext: RequestContext;
}

/** @param signal aborts when the client disconnects */
export function createContext(services: Services, limits: QueryLimits, signal: AbortSignal): Context {
  const requestContext = createRequestContext(signal);
  const budget = createQueryBudget(limits);
  return { ...services, budget, requestContext, loaders: createLoaders(services.bankData, budget, requestContext) };
}
