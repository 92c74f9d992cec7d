import DataLoader from 'dataloader';
import type { Signal } from '../async/signal.ts';
import type { BankDataPort, BicValidation, IbanValidation } from '../bank-data/bank-data.ts';
import type { RequestContext } from '../request-context.ts';
import type { QueryBudget } from './query-budget.ts';

type Loader<Answer> = Pick<DataLoader<string, Answer>, 'load'>;

export interface Loaders {
  /** By compacted IBAN. */
  ibanValidation: Loader<IbanValidation>;
  /** By compacted BIC. */
  bicValidation: Loader<BicValidation>;
}

/** The look-ups of one request: one batch per tick, each key once. A loader is created when it is first used. */
export function createLoaders(bankData: BankDataPort, budget: QueryBudget, context: RequestContext): Loaders {
  return {
    ibanValidation: createLoader('ibans', (iban) => bankData.validateIban(iban, context)),
    bicValidation: createLoader('bics', (bic) => bankData.validateBic(bic, context)),
  };

  function createLoader<Answer>(kind: 'ibans' | 'bics', lookUp: (key: string) => Promise<Answer>): Loader<Answer> {
    let loader: DataLoader<string, Answer> | undefined;
    return {
      load(key) {
        if (!budget.spend(kind)) return Promise.reject(budget.createLimitError(kind));
        loader ??= new DataLoader((keys: readonly string[]) => settleAll(keys, lookUp, context.signal));
        return loader.load(key);
      },
    };
  }
}

/** Settles each key: a failed look-up is an Error at its position. Only an abort by the client rejects the batch. */
function settleAll<Answer>(
  keys: readonly string[],
  lookUp: (key: string) => Promise<Answer>,
  signal: Signal,
): Promise<(Answer | Error)[]> {
  const settle = (error: Error) => {
    signal.throwIfAborted();
    return error;
  };
  return Promise.all(keys.map((key) => lookUp(key).catch(settle)));
}
