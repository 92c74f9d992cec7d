import DataLoader from 'dataloader';
import type { BankDataPort, BicValidation, IbanValidation } from '../bank-data/bank-data.ts';
import type { Caller } from '../caller.ts';
import { GatewayError } from '../errors.ts';

type Loader<Answer> = Pick<DataLoader<string, Answer>, 'load'>;

export interface Loaders {
  /** By compacted IBAN. */
  ibanValidation: Loader<IbanValidation>;
  /** By compacted BIC. */
  bicValidation: Loader<BicValidation>;
}

interface LoadersOptions {
  maxIbansPerQuery: number;
  caller: Caller;
}

/** The look-ups of one request: one batch per tick, each key once, each settled on its own. */
export function createLoaders(bankData: BankDataPort, { maxIbansPerQuery, caller }: LoadersOptions): Loaders {
  const limit = { most: maxIbansPerQuery, tooMany: () => tooManyIbans(maxIbansPerQuery) };
  return {
    ibanValidation: createLimitedLoader((ibans) => bankData.validateIbans(ibans, caller), limit),
    bicValidation: createLimitedLoader((bics) => bankData.validateBics(bics, caller), limit),
  };
}

export function tooManyIbans(maxIbansPerQuery: number): GatewayError {
  return new GatewayError(
    'BAD_USER_INPUT',
    `A query may ask for at most ${maxIbansPerQuery} IBANs, and as many BICs; ask for the others in another one.`,
  );
}

/** The limit holds for the request as a whole, so that neither aliases nor several lists get around it. */
function createLimitedLoader<Answer>(
  lookUp: (keys: readonly string[]) => Promise<readonly (Answer | Error)[]>,
  { most, tooMany }: { most: number; tooMany: () => Error },
): Loader<Answer> {
  let admitted = 0;
  return new DataLoader(async (keys) => {
    const places = Math.max(0, most - admitted);
    admitted += keys.length;
    const answers = await lookUp(keys.slice(0, places));
    return keys.map((_, index) => answers[index] ?? tooMany());
  });
}
