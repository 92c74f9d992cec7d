import DataLoader from 'dataloader';
import type { BankDataPort, BicValidation, IbanValidation } from '../bank-data/bank-data.ts';
import type { RequestContext } from '../request-context.ts';
import type { QueryBudget } from './query-budget.ts';

/** The look-ups of one request: one batch per tick, each key once. */
export class Loaders {
  readonly #bankData: BankDataPort;
  readonly #budget: QueryBudget;
  readonly #context: RequestContext;
  #ibans: KeyedLoader<IbanValidation> | undefined;
  #bics: KeyedLoader<BicValidation> | undefined;

  constructor(bankData: BankDataPort, budget: QueryBudget, context: RequestContext) {
    this.#bankData = bankData;
    this.#budget = budget;
    this.#context = context;
  }

  /** @param iban compacted */
  validateIban(iban: string): Promise<IbanValidation> {
    if (!this.#budget.spend('ibans')) return Promise.reject(this.#budget.createLimitError('ibans'));
    this.#ibans ??= this.#createLoader('ibans', (iban) => this.#bankData.validateIban(iban, this.#context));
    return this.#ibans.load(iban);
  }

  /** @param bic compacted */
  validateBic(bic: string): Promise<BicValidation> {
    if (!this.#budget.spend('bics')) return Promise.reject(this.#budget.createLimitError('bics'));
    this.#bics ??= this.#createLoader('bics', (bic) => this.#bankData.validateBic(bic, this.#context));
    return this.#bics.load(bic);
  }

  /** Settles each key: a failed look-up is an Error at its position. Only an abort by the client rejects the batch. */
  #createLoader<Answer>(name: 'ibans' | 'bics', lookUp: (key: string) => PromiseLike<Answer>): KeyedLoader<Answer> {
    const context = this.#context;
    const { signal, trace } = context;
    const lookUpAll = (keys: readonly string[]) =>
      new Promise<(Answer | Error)[]>((resolve, reject) => {
        const answers = new Array<Answer | Error>(keys.length);
        let missing = keys.length;
        for (const [index, key] of keys.entries()) {
          const settle = (answer: Answer | Error) => {
            answers[index] = answer;
            missing -= 1;
            if (missing === 0) resolve(answers);
          };
          const fail = (error: Error) => (signal.aborted ? reject(signal.reason) : settle(error));
          lookUp(key).then(settle, fail);
        }
      });
    if (trace === null) return new KeyedLoader(lookUpAll);
    return new KeyedLoader((keys: readonly string[]) => {
      const span = trace.startLoad(name, keys.length);
      // All look-ups begin before `lookUpAll` returns, and keep the span as the parent of their calls.
      context.trace = span;
      const answers = lookUpAll(keys).finally(span.end);
      context.trace = trace;
      return answers;
    });
  }
}

/**
 * Loads each key once. DataLoader batches the loads; its own cache would create another promise for each duplicate, which
 * settles three microtasks later.
 */
class KeyedLoader<Answer> {
  readonly #loader: DataLoader<string, Answer>;
  readonly #answers = new Map<string, Promise<Answer>>();

  constructor(loadAll: DataLoader.BatchLoadFn<string, Answer>) {
    this.#loader = new DataLoader(loadAll, { cache: false });
  }

  load(key: string): Promise<Answer> {
    const known = this.#answers.get(key);
    if (known) return known;
    const answer = this.#loader.load(key);
    this.#answers.set(key, answer);
    return answer;
  }
}
