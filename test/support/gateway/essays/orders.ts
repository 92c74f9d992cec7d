import { type EndedState, type OrderRecord, recordKeyOf } from '../../../../src/gateway/essays/orders/order.ts';
import { OrderStore } from '../../../../src/gateway/essays/orders/order-store.ts';
import type {
  EssayAllowanceExhausted,
  EssayOrder,
  EssayOrders,
  OrderInput,
} from '../../../../src/gateway/essays/port.ts';
import {
  createOrderList,
  type OrderListing,
  type OrderPage,
} from '../../../../src/gateway/graphql/schema/order-list.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { tFailingStore } from '../../failing-store.ts';
import { createMemoryStore } from '../stores/memory-store.ts';
import { type CallTrail, order, tEssay, tGenerator } from './generator.ts';
import { pass, tBook } from './processes.ts';

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

export const keyed = (idempotencyKey: string) => ({ ...order, idempotencyKey });
export const ann = {
  id: 'ann',
  name: 'ann',
  limits: { requestsPerMinute: null, bankDataCalls: null, essayCalls: null, maxQueryCost: null },
};

/** A page of the list of a caller, read by a query that may read all of it. */
export async function listOrders(
  orders: EssayOrders,
  listing: Partial<OrderListing>,
  callerId = ann.id,
): Promise<OrderPage> {
  const listOrders = createOrderList({ orders, callerId, spend: () => true });
  const page = await listOrders({ first: 20, after: null, state: null, ...listing });
  if (page === null) throw new Error('no entry was read');
  return page;
}

/** One process with its own generator, whose orders begin. Processes share what they have in `store`. */
export function tOrders({
  store = createMemoryStore(),
  maxRunning = 2,
  maxPerCaller = 10,
  cancelsSent = false,
  isWithdrawn = () => false,
  exhausted = null,
  maxMegabytes = 50,
  trail,
}: Options = {}) {
  const failing = tFailingStore(store);
  const { sender, ...controls } = tGenerator(trail);
  const fired: string[] = [];
  const outcomes: string[] = [];
  const listeners: (() => void)[] = [];
  const { orders, ...essays } = tBook({
    sender,
    store: failing.store,
    onRecovered: (listener) => void listeners.push(listener),
    keepMs,
    findExhausted: async () => exhausted,
    maxRunning,
    maxPerCaller,
    maxMegabytes,
    cancelsSent,
    reserveCallOf: () => null,
    isWithdrawn,
    events: {
      essayOrdered: (outcome) => outcomes.push(outcome),
      essayOrderEnded: ({ state, code }) => fired.push([state, code].filter(Boolean).join(': ')),
      essayOrdersAdopted: (count) => fired.push(`adopted: ${count}`),
      essayWriteBuffered: () => {},
      essayLost: (reason) => fired.push(`lost: ${reason}`),
      essayRejectedWithoutStore: () => {},
      essayOrderUnreadable: () => fired.push('skipped'),
      unexpectedError: (error) => fired.push(String(error)),
    },
  });
  orders.begin();

  return {
    ...controls,
    orders,
    essays,
    /** Of orders. */
    outcomes,
    fired,
    /** The store fails from now on, with all locks of the process, as if it had crashed. */
    crash: failing.fail,
    loseStore: failing.fail,
    findStore: failing.work,
    /** The process notices that its store works again. */
    recover() {
      for (const listener of listeners) listener();
    },
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

export const tRecords = (store: Store) => new OrderStore({ store, keepMs, events: { essayOrderUnreadable: () => {} } });

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
