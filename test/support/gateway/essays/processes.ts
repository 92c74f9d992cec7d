import { afterEach, beforeEach, expect, vi } from 'vitest';
import { EssayOrderBook } from '../../../../src/gateway/essays/orders/essay-orders.ts';
import type { EssayResult, OrderInput } from '../../../../src/gateway/essays/port.ts';
import type { RequestContext } from '../../../../src/gateway/request-context.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { tGate } from '../../gate.ts';
import { tRequestContext } from '../../request-context.ts';
import { createMemoryStore } from '../stores/memory-store.ts';
import { failed, order, tEssay, tGenerator } from './generator.ts';

type BookOptions = ConstructorParameters<typeof EssayOrderBook>[0];

/** Orders with the functions that tests take apart. */
export function tBook(options: BookOptions, orders = new EssayOrderBook(options)) {
  const generate: EssayOrderBook['generate'] = (order, context) => orders.generate(order, context);
  return { orders, archive: orders.archive, generate, flush: () => orders.flush(), close: () => orders.close() };
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
  const { sender, ...controls } = tGenerator();
  const { calls } = controls;
  const fired: string[] = [];
  const outcomes: string[] = [];
  const listeners: (() => void)[] = [];
  const keepMs = 30 * dayMs;
  const { generate, archive, flush, close } = tBook({
    sender,
    store,
    onRecovered: (listener) => void listeners.push(listener),
    keepMs,
    maxRunning: 2,
    maxPerCaller: 10,
    cancelsSent: false,
    findExhausted: async () => null,
    reserveCallOf: () => null,
    isWithdrawn: () => false,
    events: {
      essayWriteBuffered: (reason) => fired.push(`buffered: ${reason}`),
      essayLost: (reason) => fired.push(`lost: ${reason}`),
      essayRejectedWithoutStore: () => fired.push('rejected'),
      essayOrdered: (outcome) => outcomes.push(outcome),
      essayOrderUnreadable: () => fired.push('skipped'),
      essayOrderEnded: () => {},
      essayOrdersAdopted: () => {},
      unexpectedError: (error) => fired.push(String(error)),
    },
  });
  /** Orders an essay, and lets time pass until it is sent or waits. */
  async function start(ordered: OrderInput = order, context = from(), afterMs = 0) {
    const result = generate(ordered, context);
    await pass(afterMs);
    return { result };
  }

  return {
    generate,
    find: archive.find,
    flush,
    close,
    ...controls,
    fired,
    /** Of orders. */
    outcomes,
    /** The store works again. */
    recover() {
      for (const listener of listeners) listener();
    },
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
