import DataLoader from 'dataloader';
import type { BankDataPort, BicValidation, IbanValidation } from '../bank-data/bank-data.ts';
import type { RequestContext } from '../request-context.ts';
import { LookUpBatch } from './look-up-batch.ts';
import type { QueryBudget } from './schema/query-budget.ts';

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

  #createLoader<Answer>(name: 'ibans' | 'bics', lookUp: (key: string) => PromiseLike<Answer>): KeyedLoader<Answer> {
    const context = this.#context;
    const { trace } = context;
    if (trace === null) return new KeyedLoader((keys) => new LookUpBatch(keys, lookUp, context, null).start());
    return new KeyedLoader((keys) => {
      const span = trace.startLoad(name, keys.length);
      return Promise.resolve(new LookUpBatch(keys, lookUp, context, span).start()).finally(span.end);
    });
  }
}

/**
 * Loads each key once. DataLoader batches the loads; its own cache would create another promise for each duplicate, which
 * settles three microtasks later.
 */
class KeyedLoader<Answer> {
  readonly #loader: DataLoader<string, Answer>;
  /** Most requests have one key; only the second creates a map. */
  #firstKey: string | undefined;
  #firstAnswer: Promise<Answer> | undefined;
  #others: Map<string, Promise<Answer>> | undefined;

  constructor(loadAll: (keys: readonly string[]) => PromiseLike<ArrayLike<Answer | Error>>) {
    this.#loader = new DataLoader(loadAll, loaderOptions);
  }

  load(key: string): Promise<Answer> {
    const known = key === this.#firstKey ? this.#firstAnswer : this.#others?.get(key);
    if (known !== undefined) return known;
    const answer = this.#loader.load(key);
    if (this.#firstAnswer === undefined) {
      this.#firstKey = key;
      this.#firstAnswer = answer;
    } else {
      this.#others ??= new Map();
      this.#others.set(key, answer);
    }
    return answer;
  }
}

/**
 * Resolvers load within one call, so the batch begins in the microtask after it. By default, DataLoader would wait for all
 * microtasks of that call, and then for the next tick of Node.js.
 */
const loaderOptions = { cache: false, batchScheduleFn: (dispatch: () => void) => void resolved.then(dispatch) };
const resolved = Promise.resolve();
