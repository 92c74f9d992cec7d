import type { BankDataPort } from '../bank-data/bank-data.ts';
import type { EssaysPort } from '../essays/essays.ts';
import { createLoaders, type Loaders } from './loaders.ts';

/** What one request's resolvers work with. */
export interface Context {
  loaders: Loaders;
  essays: EssaysPort;
  /** Fires when the client hangs up. */
  signal: AbortSignal;
  maxIbansPerQuery: number;
}

interface ContextParts {
  bankData: BankDataPort;
  essays: EssaysPort;
  maxIbansPerQuery: number;
}

export function createContext({ bankData, essays, maxIbansPerQuery }: ContextParts, signal: AbortSignal): Context {
  return { loaders: createLoaders(bankData, { maxIbansPerQuery, signal }), essays, signal, maxIbansPerQuery };
}
