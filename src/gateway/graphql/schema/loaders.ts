import { setImmediate } from 'node:timers/promises';
import DataLoader from 'dataloader';
import {
  GraphQLIncludeDirective,
  type GraphQLResolveInfo,
  GraphQLSkipDirective,
  getDirectiveValues,
  isAbstractType,
  Kind,
  type SelectionNode,
  type SelectionSetNode,
} from 'graphql';
import type { Signal } from '../../../base/async/signal.ts';
import type { BankDataPort, BicValidation, Found, IbanValidation } from '../../bank-data/bank-data.ts';
import type { Cancellation, Essay, EssayOrder, Essays, OrderDeletion } from '../../essays/port.ts';
import type { RequestContext } from '../../request-context.ts';
import { createOrderList, type ListOrders, type OrderListing, type OrderPage } from './order-list.ts';
import type { QueryLimiter } from './query-limits.ts';

interface LoadersOptions {
  bankData: BankDataPort;
  essays: Essays;
  limiter: QueryLimiter;
  context: RequestContext;
}

/** The look-ups of one request: one batch for what resolvers load in one go, each key once; and what it reads from the store, each entry once. */
export class Loaders {
  readonly #options: LoadersOptions;
  #ibans: DataLoader<string, IbanValidation> | undefined;
  #bics: DataLoader<string, BicValidation> | undefined;
  #listOrders: ListOrders | undefined;
  #stored: Map<string, Promise<unknown>> | undefined;
  #lastRead: Promise<unknown> | undefined;

  constructor(options: LoadersOptions) {
    this.#options = options;
  }

  /**
   * @param iban compacted
   * @param isLookedUp whether a field is selected that needs the service; if it fails, these fields do
   */
  validateIban(iban: string, isLookedUp: boolean): IbanValidation | Promise<IbanValidation> {
    const { limiter, bankData } = this.#options;
    limiter.take('ibans');
    if (!isLookedUp) return unansweredIban(iban);
    this.#ibans ??= createLoader('ibans', bankData.validateIbans, unansweredIban, this.#options);
    return this.#ibans.load(iban);
  }

  /**
   * @param bic compacted
   * @param isLookedUp as for an IBAN
   */
  validateBic(bic: string, isLookedUp = true): BicValidation | Promise<BicValidation> {
    const { limiter, bankData } = this.#options;
    limiter.take('bics');
    if (!isLookedUp) return unansweredBic(bic);
    this.#bics ??= createLoader('bics', bankData.validateBics, unansweredBic, this.#options);
    return this.#bics.load(bic);
  }

  /** A page of the orders of the caller. @throws StoreError, or GatewayError if the query may read no entry of it */
  async listOrders(listing: OrderListing): Promise<OrderPage> {
    const { limiter, essays, context } = this.#options;
    this.#listOrders ??= createOrderList({
      essays,
      callerId: context.callerId,
      spend: (entries, bytes) => limiter.tryTake('listedOrders', entries) && limiter.tryTake('storedBytes', bytes),
    });
    const page = await this.#listOrders(listing);
    if (page !== null) return page;
    throw limiter.createLimitError(limiter.tryTake('storedBytes', 0) ? 'listedOrders' : 'storedBytes');
  }

  findOrder(id: string): Promise<EssayOrder | null> {
    const { essays, context } = this.#options;
    return this.#readOnce(`order ${id}`, () => essays.find(id, context.callerId));
  }

  findOrderByKey(key: string): Promise<EssayOrder | null> {
    const { essays, context } = this.#options;
    return this.#readOnce(`key ${key}`, () => essays.findByKey(key, context.callerId));
  }

  findEssay(id: string): Promise<Essay | null> {
    const { essays, context } = this.#options;
    return this.#readOnce(`essay ${id}`, () => essays.findEssay(id, context.callerId));
  }

  /** Reads the order, too. */
  cancelOrder(id: string): Promise<Cancellation | null> {
    const { essays, context } = this.#options;
    return this.#read(() => essays.cancel(id, context.callerId));
  }

  deleteOrder(id: string): Promise<OrderDeletion> {
    const { essays, context } = this.#options;
    return this.#read(() => essays.delete(id, context.callerId));
  }

  #readOnce<Entry extends Stored>(key: string, read: () => Promise<Entry | null>): Promise<Entry | null> {
    this.#stored ??= new Map();
    const reading = (this.#stored.get(key) as Promise<Entry | null> | undefined) ?? this.#read(read);
    this.#stored.set(key, reading);
    return reading;
  }

  /** One entry at a time, each in a turn of its own: the embedded store reads without one, and what is read counts. */
  #read<Entry extends Stored | null>(read: () => Promise<Entry>): Promise<Entry> {
    const { limiter } = this.#options;
    const readNext = async () => {
      if (!limiter.tryTake('storedBytes', 0)) throw limiter.createLimitError('storedBytes');
      const entry = await read();
      limiter.tryTake('storedBytes', entry === null ? 0 : bytesOf(entry));
      return entry;
    };
    const reading = this.#lastRead?.then(readNext) ?? readNext();
    this.#lastRead = reading.then(() => setImmediate()).catch(() => {});
    return reading;
  }
}

type Stored = Essay | EssayOrder | Cancellation | OrderDeletion;

function bytesOf(entry: Stored): number {
  if ('order' in entry) return entry.order.bytes;
  return 'text' in entry ? Buffer.byteLength(entry.text) : entry.bytes;
}

function createLoader<Answer>(
  name: 'ibans' | 'bics',
  lookUp: (keys: readonly string[], context: RequestContext) => Promise<readonly Found<Answer>[]>,
  toUnanswered: (key: string, failure: unknown) => Answer,
  { context }: LoadersOptions,
): DataLoader<string, Answer> {
  const loadAll = (keys: readonly string[]) => {
    const span = context.trace?.startLoad(name, keys.length) ?? null;
    const answers = lookUp(keys, span === null ? context : { ...context, trace: span }).then((found) =>
      found.map((answer, index) => (answer instanceof Error ? toUnanswered(keys[index] ?? '', answer) : answer)),
    );
    return span === null ? answers : answers.finally(() => span.end());
  };
  // Resolvers load within one call, so the batch begins right after it. By default, DataLoader would wait for the next tick.
  return new DataLoader(loadAll, { batchScheduleFn: queueMicrotask });
}

/**
 * Settles each item separately: one that fails is an Error at its position, which executors accept in place of an item.
 * Rejects once the client has left, instead of with an error for each item.
 */
export async function settleAll<Input, Item>(
  inputs: readonly Input[],
  resolve: (input: Input) => Item | Promise<Item>,
  signal: Signal,
): Promise<Item[]> {
  const toItem = (error: unknown) => {
    signal.throwIfAborted();
    return error as Item;
  };
  // An async function for each item would create two more promises.
  const settle = (input: Input) => {
    try {
      const item = resolve(input);
      return item instanceof Promise ? item.catch(toItem) : item;
    } catch (error) {
      return toItem(error);
    }
  };
  return Promise.all(inputs.map(settle));
}

/** The fields whose values are from the service. */
const lookedUpFields = {
  IbanValidation: new Set(['valid', 'problems', 'ibanData', 'bankData']),
  BicValidation: new Set(['valid', 'problems', 'bankData']),
};

/**
 * Whether a field of this type is selected that needs a look-up, in fragments too; `@skip` and `@include` are respected.
 * @param info of the field that returns the object, a list of it, or a union with it
 */
export function needsLookUp(
  info: GraphQLResolveInfo,
  type: keyof typeof lookedUpFields,
  nodes: readonly { readonly selectionSet?: SelectionSetNode | undefined }[] = info.fieldNodes,
): boolean {
  for (const { selectionSet } of nodes) {
    for (const selection of selectionSet?.selections ?? []) {
      if (selection.directives?.length && isLeftOut(selection, info)) continue;
      if (selection.kind === Kind.FIELD) {
        if (lookedUpFields[type].has(selection.name.value)) return true;
        continue;
      }
      const fragment = selection.kind === Kind.FRAGMENT_SPREAD ? info.fragments[selection.name.value] : selection;
      const condition = fragment?.typeCondition?.name.value ?? type;
      // A union may contain a fragment on the type in turn.
      const mayBeOfType = condition === type || isAbstractType(info.schema.getType(condition));
      if (fragment && mayBeOfType && needsLookUp(info, type, [fragment])) return true;
    }
  }
  return false;
}

function isLeftOut(selection: SelectionNode, { variableValues }: GraphQLResolveInfo): boolean {
  return (
    getDirectiveValues(GraphQLSkipDirective, selection, variableValues)?.if === true ||
    getDirectiveValues(GraphQLIncludeDirective, selection, variableValues)?.if === false
  );
}

/**
 * An IBAN without an answer of the service. The values of the fields that need one are the failure: executors report an Error in
 * place of a value as the error of that field alone.
 */
function unansweredIban(iban: string, failure: unknown = notLookedUp): IbanValidation {
  const missing = failure as never;
  return { iban, problems: missing, valid: missing, ibanData: missing, bankData: missing };
}

/** A BIC without an answer of the service. */
function unansweredBic(bic: string, failure: unknown = notLookedUp): BicValidation {
  const missing = failure as never;
  return { bic, problems: missing, valid: missing, bank: missing };
}

/** Only a field that is missing in `lookedUpFields` shows it. */
const notLookedUp = new Error('A field that needs a look-up was selected, and no look-up was made.');
