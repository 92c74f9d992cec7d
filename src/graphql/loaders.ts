import DataLoader from 'dataloader';
import type { BankDataPort, BicValidation, IbanValidation } from '../bank-data/bank-data.ts';
import { GatewayError } from '../errors.ts';
import type { RequestContext } from '../request-context.ts';

type Loader<Answer> = Pick<DataLoader<string, Answer>, 'load'>;

export interface Loaders {
  /** By compacted IBAN. */
  ibanValidation: Loader<IbanValidation>;
  /** By compacted BIC. */
  bicValidation: Loader<BicValidation>;
}

interface LoadersOptions {
  maxIbansPerQuery: number;
  caller: RequestContext;
}

/** The look-ups of one request: one batch per tick, each key once, each settled on its own. */
export function createLoaders(bankData: BankDataPort, { maxIbansPerQuery, caller }: LoadersOptions): Loaders {
  const limit = { most: maxIbansPerQuery, tooMany: () => tooManyIbans(maxIbansPerQuery) };
  return {
    ibanValidation: createLimitedLoader((ibans: readonly string[]) => bankData.validateIbans(ibans, caller), limit),
    bicValidation: createLimitedLoader((bics: readonly string[]) => bankData.validateBics(bics, caller), limit),
  };
}

export function tooManyIbans(maxIbansPerQuery: number): GatewayError {
  return new GatewayError(
    'BAD_USER_INPUT',
    `A query may ask for at most ${maxIbansPerQuery} IBANs, and as many BICs; ask for the others in another one.`,
  );
}

/** The limit counts every place that is asked for, repeats too: each makes the answer longer, if not dearer. */
function createLimitedLoader<Answer>(
  lookUp: (keys: readonly string[]) => Promise<readonly (Answer | Error)[]>,
  { most, tooMany }: { most: number; tooMany: () => Error },
): Loader<Answer> {
  const loader = new DataLoader(lookUp);
  let asked = 0;
  return {
    load(key) {
      asked += 1;
      return asked > most ? Promise.reject(tooMany()) : loader.load(key);
    },
  };
}
