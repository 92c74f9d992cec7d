import type { BankDataPort } from '../bank-data/bank-data.ts';
import { type Caller, createCaller } from '../caller.ts';
import type { EssaysPort } from '../essays/essays.ts';
import { createLoaders, type Loaders } from './loaders.ts';

/** What every request works with. */
export interface ContextParts {
  bankData: BankDataPort;
  essays: EssaysPort;
  maxIbansPerQuery: number;
  /** Whether a directory at hand lists this bank code of this country: a hint for typing help, no look-up. */
  isKnownBank: (country: string, bankCode: string) => boolean;
}

/** What one request's resolvers work with. */
export interface Context extends ContextParts {
  loaders: Loaders;
  caller: Caller;
}

/** @param signal fires when the client hangs up */
export function createContext(parts: ContextParts, signal: AbortSignal): Context {
  const { bankData, maxIbansPerQuery } = parts;
  const caller = createCaller(signal);
  return { ...parts, loaders: createLoaders(bankData, { maxIbansPerQuery, caller }), caller };
}
