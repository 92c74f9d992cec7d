import { afterEach, beforeEach, expect, vi } from 'vitest';
import { type EndedState, type OrderRecord, recordKeyOf } from '../../../../src/gateway/essays/orders/order.ts';
import { EssayOrderBook } from '../../../../src/gateway/essays/orders/order-book.ts';
import { OrderStore } from '../../../../src/gateway/essays/orders/order-store.ts';
import type {
  EssayAllowanceExhausted,
  EssayOrder,
  EssayResult,
  Essays,
  OrderInput,
} from '../../../../src/gateway/essays/port.ts';
import {
  createOrderList,
  type OrderListing,
  type OrderPage,
} from '../../../../src/gateway/graphql/schema/order-list.ts';
import type { RequestContext } from '../../../../src/gateway/request-context.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { tGate } from '../../turns.ts';
import { tRequestContext } from '../callers.ts';
import { createMemoryStore, tFailingStore } from '../stores/memory-store.ts';
import { type CallTrail, failed, order, tEssay, tGenerator } from './generator.ts';

interface Options {
  store?: Store;
  maxRunning?: number;
  maxPerCaller?: number;
  cancelsSent?: boolean;
  isWithdrawn?: () => boolean;
  exhausted?: EssayAllowanceExhausted | null;
  maxMegabytes?: number;
  trail?: CallTrail;
}

const keepMs = 86_400_000;
const noLimits = { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null };

export const keyed = (idempotencyKey: string) => ({ ...order, idempotencyKey });
export const ann = { id: 'ann', name: 'ann', limits: noLimits };

/** A page of the list of a caller, read by a query that may read all of it. */
export async function listOrders(
  essays: Essays,
  listing: Partial<OrderListing>,
  callerId = ann.id,
): Promise<OrderPage> {
  const listOrders = createOrderList({ essays, callerId, spend: () => true });
  const page = await listOrders({ first: 20, after: null, state: null, ...listing });
  if (page === null) throw new Error('no entry was read');
  return page;
}

type BookOptions = Omit<ConstructorParameters<typeof EssayOrderBook>[0], 'sender' | 'onRecovered' | 'events'>;
type BookEvents = ConstructorParameters<typeof EssayOrderBook>[0]['events'];

/** An order book with its own generator. @param listen the events that it records in `fired`, beside losses */
function tOwnBook(
  { trail, ...options }: Pick<BookOptions, 'store' | 'keepMs'> & Partial<BookOptions> & Pick<Options, 'trail'>,
  listen: (fire: (event: string) => void) => Partial<BookEvents>,
) {
  const { sender, ...controls } = tGenerator(trail);
  const fired: string[] = [];
  const outcomes: string[] = [];
  const listeners: (() => void)[] = [];
  const fire = (event: string) => void fired.push(event);
  const book = tBook(
    new EssayOrderBook({
      ...{ findExhausted: async () => null, maxRunning: 2, maxPerCaller: 10, cancelsSent: false },
      ...{ reserveCallOf: () => null, isWithdrawn: () => false },
      ...options,
      sender,
      onRecovered: (listener) => void listeners.push(listener),
      events: {
        ...{ essayOrderEnded() {}, essayOrdersAdopted() {}, essayWriteBuffered() {}, essayRejectedWithoutStore() {} },
        essayOrdered: (outcome) => outcomes.push(outcome),
        essayLost: (reason) => fire(`lost: ${reason}`),
        essayOrderUnreadable: () => fire('skipped'),
        unexpectedError: (error) => fire(String(error)),
        ...listen(fire),
      },
    }),
  );
  return {
    ...book,
    ...controls,
    fired,
    /** Of orders. */
    outcomes,
    /** The process notices that its store works again. */
    recover() {
      for (const listener of listeners) listener();
    },
  };
}

/** One process with its own generator, whose orders begin. Processes share what they have in `store`. */
export function tOrders({ store = createMemoryStore(), exhausted = null, ...options }: Options = {}) {
  const failing = tFailingStore(store);
  const findExhausted = async () => exhausted;
  const { orders, generate, find, flush, close, ...own } = tOwnBook(
    { store: failing.store, keepMs, findExhausted, ...options },
    (fire) => ({
      essayOrderEnded: ({ state, code }) => fire([state, code].filter(Boolean).join(': ')),
      essayOrdersAdopted: (count) => fire(`adopted: ${count}`),
    }),
  );
  const essays = { find, generate, flush, close };
  orders.begin();

  return {
    ...own,
    orders,
    essays,
    /** The store fails from now on, with all locks of the process, as if it had crashed. */
    crash: failing.fail,
    loseStore: failing.fail,
    findStore: failing.work,
    /** Starts an order with this key, and lets it begin. */
    async start(idempotencyKey: string, changes: Partial<OrderInput> = {}, caller = ann): Promise<EssayOrder> {
      const started = await orders.start({ ...order, ...changes, idempotencyKey }, caller);
      await pass(0);
      if ('kind' in started) throw new Error(started.message);
      return started;
    },
    stateOf: async ({ id }: EssayOrder) => (await orders.find(id, ann.id))?.state,
  };
}

export const tRecords = (store: Store) =>
  new OrderStore({
    store,
    keepMs,
    onChange() {},
    events: { essayOrderUnreadable() {}, essayOrderEnded() {}, essayLost() {}, essayWriteBuffered() {} },
  });

/** Stores orders of a caller that have ended, of which each finished one has the id of its essay as its id. @returns their ids */
export async function storeOrders(
  store: Store,
  kind: 'finished' | 'cancelled',
  count: number,
  caller = ann,
  text = tEssay().text,
): Promise<string[]> {
  const records = tRecords(store);
  const ids = Array.from({ length: count }, (_, index) => `${kind}-${index}`);
  for (const id of ids) {
    const listed = await records.drawNumber(caller.id);
    const state: EndedState =
      kind === 'finished' ? { kind, essay: { ...tEssay(), id, text } } : { kind, mayHaveBeenPaid: false };
    const ordered = { ...order, idempotencyKey: id };
    const record: OrderRecord = {
      id,
      createdAt: new Date(),
      order: ordered,
      caller,
      isAwaited: false,
      listed,
      run: id,
      state,
    };
    await records.change(recordKeyOf(record), { kind: 'started', next: record });
  }
  return ids;
}

/** From now on, how often entries of lists, and records of orders, are read. */
export function countReads(store: Store) {
  const keys: string[] = [];
  const { get } = store;
  store.get = (key) => {
    keys.push(key);
    return get(key);
  };
  const count = (pattern: RegExp) => () => keys.filter((key) => pattern.test(key)).length;
  return { entries: count(/^essay-jobs:[^:]+:\d+$/), records: count(/^essay-record:[^:]+$/) };
}

/** From now on, the bytes of the values that are stored, without those that were overwritten or erased. */
export function countBytes(store: Store): () => number {
  const sizes = new Map<string, number>();
  const { set, replace } = store;
  store.set = (key, value, expiry) => {
    sizes.set(key, Buffer.byteLength(value));
    return set(key, value, expiry);
  };
  store.replace = async (key, seen, next, options) => {
    const isReplaced = await replace(key, seen, next, options);
    if (isReplaced)
      for (const each of [{ key, value: next }, ...(options.also ?? [])])
        sizes.set(each.key, Buffer.byteLength(each.value ?? ''));
    return isReplaced;
  };
  return () => [...sizes.values()].reduce((sum, size) => sum + size, 0);
}

/** Orders with the functions that tests take apart. */
export function tBook(orders: EssayOrderBook) {
  const generate = (order: OrderInput, context: RequestContext) => {
    const { callerId, origin } = context;
    return orders.generate(order, { id: callerId, name: origin.caller, limits: noLimits }, context);
  };
  const find = (id: string, { callerId }: Pick<RequestContext, 'callerId'>) => orders.findEssay(id, callerId);
  return { orders, find, generate, flush: () => orders.stop(), close: () => orders.close() };
}

export const dayMs = 86_400_000;
export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** For every test of a file. */
export function useFakeTime(): void {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(async () => {
    await pass(3_000);
    // Neither a lease is still renewed nor a write still retried.
    expect(vi.getTimerCount()).toBe(0);
  });
}

export function from(callerId = 'ann', signal?: AbortSignal): RequestContext {
  return { ...tRequestContext(signal), callerId };
}

/** One process with its own generator. Processes share what they have in `store`. */
export function tProcess(store: Store = createMemoryStore()) {
  const own = tOwnBook({ store, keepMs: 30 * dayMs }, (fire) => ({
    essayWriteBuffered: (reason) => fire(`buffered: ${reason}`),
    essayRejectedWithoutStore: () => fire('rejected'),
  }));
  const { generate, calls } = own;
  /** Orders an essay, and lets time pass until it is sent or waits. */
  async function start(ordered: OrderInput = order, context = from(), afterMs = 0) {
    const result = generate(ordered, context);
    await pass(afterMs);
    return { result };
  }

  return {
    ...own,
    start,
    /** Orders an essay and lets the generator answer it. */
    async write(order: OrderInput, text?: string, afterMs = 0) {
      const essay = tEssay(text);
      const { result } = await start(order, from(), afterMs);
      calls.at(-1)?.answer(essay);
      expect(await result).toMatchObject(essay);
      return essay;
    },
    /** Orders an essay and lets the generator fail. */
    async orderAndFail(failure = failed) {
      const { result } = await start();
      calls.at(-1)?.answer(failure);
      expect(await result).toEqual(failure);
    },
    /** Sends an order and aborts its caller. */
    async orderAndAbort(order: OrderInput, { afterMs = 0, context = from() } = {}) {
      const caller = new AbortController();
      const result = generate(order, { ...context, signal: caller.signal });
      await pass(afterMs);
      const hasRejected = expect(result).rejects.toMatchObject({ name: 'AbortError' });
      caller.abort();
      await hasRejected;
    },
  };
}

/** Lets the generator of one process answer, and expects that all of these orders return the same essay. */
export async function answerAll(
  { calls }: Pick<ReturnType<typeof tProcess>, 'calls'>,
  ...results: Promise<EssayResult>[]
) {
  const essay = tEssay();
  calls[0]?.answer(essay);
  await pass(1_000);
  expect(await Promise.all(results)).toEqual(results.map(() => essay));
  return essay;
}

/** A store whose writes wait until the test calls `proceed`, if they match as `set key value` or `replace key next`. */
export function tDelayed(store: Store, pattern: RegExp) {
  const { opened, open: proceed } = tGate();
  const wait = (operation: string) => (pattern.test(operation) ? opened : Promise.resolve());
  const delayed: Store = {
    ...store,
    set: (key, value, expiry) => wait(`set ${key} ${value}`).then(() => store.set(key, value, expiry)),
    replace: (key, seen, next, options) =>
      wait(`replace ${key} ${next}`).then(() => store.replace(key, seen, next, options)),
  };
  return { store: delayed, proceed };
}
