import type { BankDataPort } from '../bank-data/bank-data.ts';
import { GatewayError } from '../errors.ts';
import type { EssaysPort } from '../essays/essays.ts';
import { createRequestContext, type RequestContext } from '../request-context.ts';
import type { AllowanceStatus } from '../upstream/allowance/allowance.ts';
import { createLoaders, type Loaders } from './loaders.ts';

/** What the door knows of a request before GraphQL does; without a door, nothing. */
export interface ServerContext {
  requestId?: string;
}

/** What every request works with. */
export interface ContextParts {
  bankData: BankDataPort;
  essays: EssaysPort;
  /** What is left of each upstream; costs no call. */
  allowances: () => Promise<readonly AllowanceStatus[]>;
  maxIbansPerQuery: number;
  maxEssaysPerQuery: number;
  /** Whether a directory at hand lists this bank code of this country: a hint for typing help, no look-up. */
  isKnownBank: (country: string, bankCode: string) => boolean;
}

/** What one request's resolvers work with. */
export interface Context extends ContextParts {
  loaders: Loaders;
  caller: RequestContext;
}

/** @param signal fires when the client hangs up */
export function createContext(parts: ContextParts, signal: AbortSignal): Context {
  const { bankData, maxIbansPerQuery } = parts;
  const caller = createRequestContext(signal);
  const loaders = createLoaders(bankData, { maxIbansPerQuery, caller });
  return {
    ...parts,
    essays: limitEssays(parts.essays, parts.maxEssaysPerQuery),
    bankData: limitQuestions(bankData),
    loaders,
    caller,
  };
}

/** Aliases order as many essays as they like, and each is paid for. */
function limitEssays(essays: EssaysPort, most: number): EssaysPort {
  let ordered = 0;
  return {
    ...essays,
    async generate(order, caller) {
      ordered += 1;
      if (ordered <= most) return essays.generate(order, caller);
      const message = `A mutation may order at most ${most} essays; order the others in another one.`;
      return { kind: 'invalid-input', field: null, message };
    },
  };
}

/** Neither lists nor generated IBANs go through the loaders, which keep to a limit of their own. */
function limitQuestions(bankData: BankDataPort, most = 20): BankDataPort {
  let asked = 0;
  const admit = () => {
    asked += 1;
    if (asked <= most) return;
    const message = `A query may ask for at most ${most} lists of banks or IBANs to generate.`;
    throw new GatewayError('BAD_USER_INPUT', message);
  };
  return {
    ...bankData,
    async listBanks(listing, caller) {
      admit();
      return bankData.listBanks(listing, caller);
    },
    async generateIban(source, caller) {
      admit();
      return bankData.generateIban(source, caller);
    },
  };
}
