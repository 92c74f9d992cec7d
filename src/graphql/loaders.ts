import DataLoader from 'dataloader';
import type { BankDataPort, IbanValidation } from '../bank-data/bank-data.ts';
import { GatewayError } from '../errors.ts';

export interface Loaders {
  /** By normalised IBAN. */
  ibanValidation: Pick<DataLoader<string, IbanValidation>, 'load'>;
}

interface LoadersOptions {
  maxIbansPerQuery: number;
  signal: AbortSignal;
}

/**
 * The look-ups of one request: one batch per tick, each key once, each settled on its own. The limit holds for the
 * request as a whole, so that neither aliases nor several lists get around it.
 */
export function createLoaders(bankData: BankDataPort, { maxIbansPerQuery, signal }: LoadersOptions): Loaders {
  let admitted = 0;
  return {
    ibanValidation: new DataLoader(async (ibans) => {
      const places = Math.max(0, maxIbansPerQuery - admitted);
      admitted += ibans.length;
      const answers = await bankData.validateIbans(ibans.slice(0, places), signal);
      return ibans.map((_, index) => answers[index] ?? tooManyIbans(maxIbansPerQuery));
    }),
  };
}

export function tooManyIbans(maxIbansPerQuery: number): GatewayError {
  return new GatewayError(
    'BAD_USER_INPUT',
    `A query may ask for at most ${maxIbansPerQuery} IBANs; ask for the others in another one.`,
  );
}
