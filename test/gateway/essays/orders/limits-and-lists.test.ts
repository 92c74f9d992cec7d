import { describe, expect, it, vi } from 'vitest';
import type { EssayResult } from '../../../../src/gateway/essays/port.ts';
import { createOrderList } from '../../../../src/gateway/graphql/schema/order-list.ts';
import { failed, order, tEssay } from '../../../support/gateway/essays/generator.ts';
import {
  ann,
  countBytes,
  dayMs,
  listOrders,
  pass,
  storeOrders,
  tOrders,
  tRecords,
  useFakeTime,
} from '../../../support/gateway/essays/orders.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

/* What a caller may have, list and delete. */

useFakeTime();

const notSent = { ...failed, code: 'UPSTREAM_UNAVAILABLE' } as EssayResult;

function tTwo(options: Parameters<typeof tOrders>[0] = {}) {
  const store = createMemoryStore();
  const [one, two] = [tOrders({ store, ...options }), tOrders({ store, maxRunning: 0 })];
  const close = async () => {
    for (const { calls } of [one, two]) for (const call of calls) call.answer(failed);
    await Promise.all([one.orders.stop(), two.orders.stop()]);
    await Promise.all([one.essays.close(), two.essays.close()]);
  };
  return { store, records: tRecords(store), one, two, close };
}

describe('the limit of a caller', () => {
  it('holds for orders that are started at the same moment', async () => {
    const { orders, calls } = tOrders({ maxPerCaller: 3, maxRunning: 9 });
    const keys = Array.from({ length: 9 }, (_, index) => `key-${index}`);
    const starting = keys.map((idempotencyKey) => orders.start({ ...order, idempotencyKey }, ann));
    await pass(0);
    expect((await Promise.all(starting)).filter((result) => !('kind' in result))).toHaveLength(3);
    for (const call of calls) call.answer(tEssay());
    await orders.stop();
  });
});

describe('what the orders of a caller take in the store', () => {
  const refused = {
    kind: 'service-failed',
    code: 'UPSTREAM_UNAVAILABLE',
    message: expect.stringMatching(/at most 1 MB/),
  };
  const long = (idempotencyKey: string) => ({ ...order, description: 'é'.repeat(10_000), idempotencyKey });
  /** Orders that fail unsent until one is refused. @returns their number */
  async function startMany({ orders, calls }: ReturnType<typeof tOrders>, prefix: string, callerId = ann.id) {
    for (let number = 0; number < 100; number += 1) {
      const started = await orders.start(long(`${prefix}-${number}`), { ...ann, id: callerId });
      await pass(0);
      if ('kind' in started) {
        expect(started).toMatchObject(refused);
        return number;
      }
      calls.at(-1)?.answer(notSent);
      await pass(0);
    }
    throw new Error('no order was refused');
  }

  it('is limited, also across processes, and by caller', async () => {
    const { store, one, two, close } = tTwo({ maxMegabytes: 1 });
    const bytes = countBytes(store);
    const count = await startMany(one, 'a');
    expect(count).toBe(47);
    expect(bytes()).toBeLessThan(1_100_000);
    const before = bytes();
    expect(await one.orders.start(long('b'), ann)).toMatchObject(refused);
    expect(bytes()).toBe(before);
    expect(await startMany(one, 'a', 'bob')).toBe(47);
    expect(await one.orders.start(long('a-0'), ann)).toMatchObject({ state: { kind: 'failed' } });
    expect((await listOrders(two.orders, { first: 100 })).entries).toHaveLength(47);
    await close();
  });

  it('is less after an order was deleted, and after orders have expired', async () => {
    const { one, close } = tTwo({ maxMegabytes: 1 });
    await startMany(one, 'a');
    const { entries } = await listOrders(one.orders, { first: 5 });
    for (const { order } of entries)
      expect(await one.orders.delete(order.id, ann.id)).toMatchObject({ result: 'deleted' });
    expect(await startMany(one, 'b')).toBe(5);
    // They are counted by fifths of the time for which they are stored.
    vi.setSystemTime(Date.now() + 1.2 * dayMs);
    expect(await startMany(one, 'c')).toBe(47);
    await close();
  });

  it('is counted once for an order that is started again and again', async () => {
    const { one, close } = tTwo({ maxMegabytes: 1 });
    for (let number = 0; number < 60; number += 1) {
      expect(await one.orders.start({ ...long('a'), orderAgain: true }, ann)).not.toHaveProperty('kind');
      await pass(0);
      one.calls.at(-1)?.answer(notSent);
      await pass(0);
    }
    expect(await startMany(one, 'b')).toBe(46);
    await close();
  });
});

describe('an order that could not be sent', () => {
  it('is not stored, and is found if it was started before', async () => {
    const store = createMemoryStore();
    const exhausted = {
      kind: 'allowance-exhausted',
      message: 'None left.',
      code: 'BUDGET_EXHAUSTED',
      renewsAt: new Date(86_400_000),
    } as const;
    const [able, unable] = [tOrders({ store }), tOrders({ store, exhausted })];
    const known = await able.start('known');
    const bytes = countBytes(store);
    for (let number = 0; number < 40; number += 1) {
      const long = { ...order, description: 'd'.repeat(10_000), idempotencyKey: `key-${number}` };
      expect(await unable.orders.start(long, ann)).toEqual(exhausted);
    }
    expect(bytes()).toBe(0);
    expect(unable.outcomes).toEqual(Array(40).fill('exhausted'));
    expect(await unable.start('known')).toMatchObject({ id: known.id });
    expect((await listOrders(able.orders, {})).entries).toHaveLength(1);
    expect(unable.orders.status()).toMatchObject({ waiting: 0, running: 0 });
    able.calls[0]?.answer(tEssay());
    await Promise.all([able.orders.stop(), unable.orders.stop()]);
  });
});

describe('deleting an order', () => {
  it('leaves none of its texts in the store', async () => {
    const { store, one, two, close } = tTwo();
    const { set, replace } = store;
    const keys = new Set<string>();
    store.set = (key, ...args) => set(keys.add(key) && key, ...args);
    store.replace = (key, ...args) => replace(keys.add(key) && key, ...args);
    const readAll = async () => (await Promise.all([...keys].map((key) => store.get(key)))).join();
    const ordered = await one.start('a', { description: 'A confidential subject' });
    one.calls[0]?.show('A confidential text');
    await pass(1_000);
    expect(await readAll()).toMatch(/confidential subject[\s\S]*confidential text/);
    one.calls[0]?.answer(tEssay('A confidential text, and its end'));
    await pass(1_000);
    expect(await two.orders.delete(ordered.id, 'ann')).toMatchObject({ result: 'deleted' });
    await pass(1_000);
    expect(await readAll()).not.toContain('confidential');
    await close();
  });
});

describe('a caller with thousands of orders', () => {
  /** The list as one query sees it, and how many entries it has read. */
  function tList({ orders }: ReturnType<typeof tOrders>, maxEntries = 2_000) {
    let read = 0;
    const spend = (entries: number) => {
      if (read + entries > maxEntries) return false;
      read += entries;
      return true;
    };
    return { listOrders: createOrderList({ essays: orders, callerId: ann.id, spend }), read: () => read };
  }

  it('gets them in pages, also if few of them are in the wanted state', async () => {
    const { store, records, one, close } = tTwo();
    const ended = await storeOrders(store, 'finished', 1);
    await storeOrders(store, 'cancelled', 4_100);
    const found: string[] = [];
    let pages = 0;
    for (let after: number | null = null; ; ) {
      const { listOrders, read } = tList(one);
      const page = await listOrders({ first: 5, after, state: 'finished' });
      if (page === null) throw new Error('no entry was read');
      expect(read()).toBeLessThanOrEqual(2_000);
      pages += 1;
      found.push(...page.entries.map(({ order }) => order.id));
      if (!page.hasNext) break;
      expect(page.end).toBeLessThan(after ?? Number.POSITIVE_INFINITY);
      after = page.end;
    }
    expect(found).toEqual(ended);
    expect(pages).toBe(3);
    expect(await records.lastNumber('ann')).toBe(4_101);
    await close();
  });
});
