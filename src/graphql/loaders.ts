import DataLoader from 'dataloader';
import type { BankDataPort, BicValidation, IbanValidation } from '../bank-data/bank-data.ts';
import type { RequestContext } from '../request-context.ts';
import type { Trace } from '../trace.ts';
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
    const { signal, usage, trace } = context;
    const lookUpAll = (keys: readonly string[], span: Trace | null) =>
      new Promise<(Answer | Error)[]>((resolve, reject) => {
        const answers = new Array<Answer | Error>(keys.length);
        let missing = keys.length;
        let next = 0;
        let callsPerTurn = firstCalls;
        beginTurn();

        function beginTurn(): void {
          if (signal.aborted) {
            reject(signal.reason);
            return;
          }
          const maxCalls = usage.upstreamCalls + callsPerTurn;
          // The parent of the calls that begin now.
          context.trace = span;
          for (; next < keys.length && usage.upstreamCalls < maxCalls; next += 1) begin(keys[next] ?? '', next);
          context.trace = trace;
          callsPerTurn *= 2;
          if (next < keys.length) setImmediate(beginTurn);
        }

        function begin(key: string, index: number): void {
          const settle = (answer: Answer | Error) => {
            answers[index] = answer;
            missing -= 1;
            if (missing === 0) resolve(answers);
          };
          const fail = (error: Error) => (signal.aborted ? reject(signal.reason) : settle(error));
          try {
            lookUp(key).then(settle, fail);
          } catch (error) {
            fail(error as Error);
          }
        }
      });
    if (trace === null) return new KeyedLoader((keys) => lookUpAll(keys, null));
    return new KeyedLoader((keys) => {
      const span = trace.startLoad(name, keys.length);
      return lookUpAll(keys, span).finally(span.end);
    });
  }
}

/**
 * Undici writes calls at the end of a turn of the event loop. A list begins this many calls in its first turn, and twice as
 * many in each further one, so that the first are on their way while the others are prepared. Look-ups that make no call at
 * once do not count.
 */
const firstCalls = 5;

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
