import DataLoader from 'dataloader';
import type { Signal } from '../../async/signal.ts';
import type { BankDataPort, BicValidation, IbanValidation } from '../../bank-data/bank-data.ts';
import type { RequestContext } from '../../request-context.ts';
import { Deadline } from '../../upstream/deadline.ts';
import { type CallQueue, createCallQueue } from '../../upstream/queue.ts';
import type { QueryBudget } from './query-budget.ts';

interface LoadersOptions {
  bankData: BankDataPort;
  budget: QueryBudget;
  context: RequestContext;
  batches: BatchTurns;
}

/** The turns of large batches, the same for all requests. */
export interface BatchTurns {
  /** How many look-ups of a batch are in progress at a time: as many as the queue of calls lets through. */
  maxConcurrency: number;
  turns: Pick<CallQueue, 'enter' | 'leave'>;
}

/** @param maxConcurrency calls to the service at a time */
export function createBatchTurns(maxConcurrency: number): BatchTurns {
  return {
    maxConcurrency,
    turns: createCallQueue({ maxConcurrency: maxLargeBatches, maxQueue: Number.MAX_SAFE_INTEGER }),
  };
}

/** The look-ups of one request: one batch per tick, each key once. */
export class Loaders {
  readonly #options: LoadersOptions;
  #ibans: DataLoader<string, IbanValidation> | undefined;
  #bics: DataLoader<string, BicValidation> | undefined;

  constructor(options: LoadersOptions) {
    this.#options = options;
  }

  /** @param iban compacted */
  validateIban(iban: string): Promise<IbanValidation> {
    const { budget, bankData } = this.#options;
    if (!budget.spend('ibans')) return Promise.reject(budget.createLimitError('ibans'));
    this.#ibans ??= createLoader('ibans', bankData.validateIban, this.#options);
    return this.#ibans.load(iban);
  }

  /** @param bic compacted */
  validateBic(bic: string): Promise<BicValidation> {
    const { budget, bankData } = this.#options;
    if (!budget.spend('bics')) return Promise.reject(budget.createLimitError('bics'));
    this.#bics ??= createLoader('bics', bankData.validateBic, this.#options);
    return this.#bics.load(bic);
  }
}

function createLoader<Answer>(
  name: 'ibans' | 'bics',
  lookUp: (key: string, context: RequestContext) => Promise<Answer>,
  { context, batches: { maxConcurrency, turns } }: LoadersOptions,
): DataLoader<string, Answer> {
  const loadAll = async (keys: readonly string[]) => {
    const span = context.trace?.startLoad(name, keys.length) ?? null;
    const batchContext = { ...context, trace: span, startedAt: performance.now() };
    const isLarge = keys.length > maxConcurrency / maxLargeBatches;
    const hasTurn = isLarge && (await waitForTurn());
    try {
      return await settleAll(keys, (key) => lookUp(key, batchContext), context.signal, maxConcurrency);
    } finally {
      if (hasTurn) turns.leave();
      span?.end();
    }
  };
  // Resolvers load within one call, so the batch begins right after it. By default, DataLoader would wait for the next tick.
  return new DataLoader(loadAll, { batchScheduleFn: queueMicrotask });

  /** Resolves to false if the batch begins without a turn, because it has waited long enough or the client has left. */
  async function waitForTurn(): Promise<boolean> {
    const wait = new Deadline(context.signal, maxTurnWaitMs);
    const hasTurn = await turns.enter(context.requestKey, wait);
    wait.end();
    return hasTurn;
  }
}

/**
 * Batches that could use all calls to the service between them. With more in progress, none would end sooner, and each holds
 * memory for its look-ups: garbage collection then takes a third of the time.
 */
const maxLargeBatches = 4;

/** Then a batch begins without a turn, so that those before it with a thousand look-ups do not delay it further. */
const maxTurnWaitMs = 250;

/**
 * Settles each item separately: one that fails is an Error at its position, which DataLoader and executors accept in place of an
 * answer. Rejects once the client has left, instead of with an error for each item.
 * @param maxConcurrency items in progress at a time; the others wait without holding anything but their input
 */
export async function settleAll<Input, Item>(
  inputs: readonly Input[],
  resolve: (input: Input) => Item | Promise<Item>,
  signal: Signal,
  maxConcurrency = Number.POSITIVE_INFINITY,
): Promise<Item[]> {
  const items = new Array<Item>(inputs.length);
  let next = 0;
  // Each worker takes the next index until none is left.
  const work = async () => {
    while (next < inputs.length) {
      const index = next;
      next += 1;
      try {
        items[index] = await resolve(inputs[index] as Input);
      } catch (error) {
        if (signal.aborted) throw signal.reason;
        items[index] = error as Item;
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(inputs.length, maxConcurrency) }, work));
  return items;
}
