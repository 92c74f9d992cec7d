import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { toRecordKey } from '../../../../src/gateway/essays/orders/order-record.ts';
import { type Store, StoreError } from '../../../../src/gateway/stores/store.ts';
import { failed, order, tEssay } from '../../../support/gateway/essays/generator.ts';
import {
  ann,
  countReads,
  idOf,
  keyed,
  listOrders,
  notSent,
  sentBy,
  tOrders,
} from '../../../support/gateway/essays/orders.ts';
import { from, pass } from '../../../support/gateway/essays/processes.ts';
import { tTwo } from '../../../support/gateway/essays/unsteady-store.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

/* Faults that a review has found, which need a slow or failing store, or two processes at one moment. */

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
});

type Process = ReturnType<typeof tOrders>;

async function hasEnded(work: Promise<unknown>, withinMs: number): Promise<boolean> {
  let isEnded = false;
  const end = () => {
    isEnded = true;
  };
  void work.then(end, end);
  await pass(withinMs);
  return isEnded;
}

describe('an order is not sent twice without consent', () => {
  it('A1: if its end is being stored when it is time to store ends again', async () => {
    const { one, two, hold } = tTwo();
    one.queue();
    const client = new AbortController();
    const left = one.essays.generate(keyed('a'), from(ann.id, client.signal)).catch(() => null);
    await pass(900);
    await two.start('a');
    const release = hold(/^replace/);
    client.abort();
    await left;
    await pass(150);
    release();
    await pass(10);
    one.leaveQueue();
    await pass(10);
    expect(sentBy(one) + sentBy(two)).toBe(1);
  });

  it('A2: if the store loses its data while it is recorded as sent, and its process then crashes', async () => {
    const { memory, one, two, hold } = tTwo();
    one.queue();
    await one.start('a');
    await pass(900);
    const record = hold(/"kind":"sent"/);
    one.leaveQueue();
    await pass(10);
    memory.clear();
    // The turn of the second notices the loss, and stores the order again as queued.
    const restore = hold(/"kind":"queued"/);
    await pass(150);
    record();
    await pass(10);
    restore();
    await pass(4_000);
    expect(sentBy(one)).toBe(1);
    one.crash();
    await pass(30_000);
    expect(sentBy(two)).toBe(0);
  });

  it('A3: if its generator fails unexpectedly after it was sent', async () => {
    const { start, calls, essays } = tOrders();
    await start('a');
    calls[0]?.reject(new Error('a fault'));
    await pass(0);
    void essays.generate(keyed('a'), from());
    await pass(10);
    expect(calls).toHaveLength(1);
  });
});

describe('an order that was cancelled is not sent', () => {
  it.each([0, 5_000])('A4: if it was then deleted, and its process sends it %i ms later', async (afterMs) => {
    const { one, two } = tTwo();
    one.queue();
    const { id } = await one.start('a');
    await pass(100);
    expect(await two.orders.cancel(id, ann.id)).toMatchObject({ isCancelled: true, mayHaveBeenPaid: false });
    expect(await two.orders.delete(id, ann.id)).toBe('deleted');
    await pass(afterMs);
    one.leaveQueue();
    await pass(10);
    expect(sentBy(one)).toBe(0);
  });
});

describe('an order that was accepted does not remain queued for ever', () => {
  it('B1: when one process continues it, another has seen that, and the first then crashes', async () => {
    const store = createMemoryStore();
    const one = tOrders({ store, maxRunning: 1 });
    await pass(300);
    const others = [tOrders({ store, maxRunning: 1 })];
    await pass(300);
    others.push(tOrders({ store, maxRunning: 1 }));
    await one.start('busy');
    for (const [index, other] of others.entries()) await other.start(`busy-${index}`);
    await one.start('a');
    // A rolling update: the process still completes what it has sent.
    const stopping = one.orders.stop();
    await pass(3_000);
    const taker = others.find(({ orders }) => orders.status().waiting === 1);
    const survivor = others.find((other) => other !== taker);
    one.calls[0]?.answer(tEssay());
    await stopping;
    await pass(5_000);
    taker?.crash();
    survivor?.calls[0]?.answer(tEssay());
    await pass(60_000);
    expect(survivor?.calls.map((call) => call.order.idempotencyKey)).toContain('a');
  });

  it('B2: when the process that takes it over gets no answer to its write', async () => {
    const { one: taker, two: crashed, loseAnswer } = tTwo();
    crashed.queue();
    await crashed.start('a');
    // The one in the queue is not sent.
    crashed.crash();
    loseAnswer(/^replace/);
    await pass(60_000);
    expect(sentBy(taker)).toBe(1);
  });

  it('B3: when its start was refused, although it was stored, and its client has tried again meanwhile', async () => {
    const { one, two, loseAnswer } = tTwo();
    await one.start('busy');
    loseAnswer(/^replace/);
    expect(await one.orders.start(keyed('a'), ann)).toMatchObject({ kind: 'service-failed', retryable: true });
    one.loseStore();
    expect(await one.orders.start(keyed('a'), ann)).toMatchObject({ kind: 'service-failed', retryable: true });
    one.findStore();
    await pass(60_000);
    await one.start('a');
    expect([...one.calls.slice(1), ...two.calls]).toHaveLength(1);
  });

  it('B4: when its start was refused, although it was stored, and the record of another order is damaged', async () => {
    const { memory, one, loseAnswer } = tTwo();
    await memory.set(toRecordKey(idOf('damaged'), ann.id), '{}', { expiresInMs: 1_000_000 });
    await one.orders.start(keyed('damaged'), ann);
    loseAnswer(/^replace/);
    await one.orders.start(keyed('a'), ann);
    await pass(60_000);
    expect(one.calls).toHaveLength(0);
    expect(await one.orders.findByKey('a', ann.id)).toBeNull();
    await one.start('a');
    expect(one.calls).toHaveLength(1);
  });

  it('B5: when its start was refused, although it was stored, and its process crashes after its next turn', async () => {
    const { one, two, loseAnswer } = tTwo({ maxRunning: 1 });
    await one.start('busy');
    loseAnswer(/^replace/);
    await one.orders.start(keyed('a'), ann);
    await pass(1_500);
    one.crash();
    await pass(60_000);
    // Its client tries again.
    await two.start('a');
    await pass(60_000);
    expect(two.calls).toHaveLength(1);
  });

  it('B6: when it is started after its process has left its orders, while requests are still answered', async () => {
    const { one, two } = tTwo();
    await one.start('a');
    one.calls[0]?.answer(tEssay());
    await pass(1_000);
    await one.orders.stop();
    await pass(3_000);
    expect(await one.orders.start(keyed('b'), ann)).toMatchObject({ state: { kind: 'queued' } });
    await one.essays.close();
    await pass(60_000);
    expect(two.calls).toHaveLength(1);
  });

  it('B7: for clients in other processes, if its own client got no answer when it was stored', async () => {
    const { one, two, loseAnswer } = tTwo();
    await one.start('busy');
    loseAnswer(/^replace/);
    expect(await one.essays.generate(keyed('a'), from())).toMatchObject({ retryable: true });
    void two.essays.generate(keyed('a'), from());
    await pass(120_000);
    expect(two.calls).toHaveLength(1);
  });
});

describe('a process that stops', () => {
  it('C1: ends, and leaves an order to others, that was being stored when it began to stop', async () => {
    const { one, two, hold } = tTwo();
    const release = hold(/^replace/);
    const starting = one.orders.start(keyed('a'), ann);
    await pass(10);
    const stopping = one.orders.stop();
    await pass(10);
    release();
    await starting;
    await stopping;
    await pass(30_000);
    expect.soft(two.calls).toHaveLength(1);
    expect(await hasEnded(one.essays.close(), 60_000)).toBe(true);
  });

  it('C2: ends, and leaves an order to others, that it was taking over when it began to stop', async () => {
    const { one, two: crashed, memory, hold } = tTwo();
    crashed.queue();
    await crashed.start('a');
    crashed.crash();
    const release = hold(/^replace/);
    await pass(15_000);
    const stopping = one.orders.stop();
    await pass(10);
    release();
    await stopping;
    const next = tOrders({ store: memory });
    await pass(30_000);
    expect.soft(next.calls).toHaveLength(1);
    expect(await hasEnded(one.essays.close(), 60_000)).toBe(true);
  });

  it('C3: does not abort an order that was sent while it was left to others, if the store fails then', async () => {
    const { one, hold } = tTwo();
    one.queue();
    await one.start('a');
    const release = hold(/"process":null/);
    const stopping = one.orders.stop();
    await pass(10);
    one.leaveQueue();
    await pass(10);
    expect(sentBy(one)).toBe(1);
    one.loseStore();
    release();
    await pass(10);
    expect(one.calls[0]?.context.signal.aborted).toBe(false);
    one.calls[0]?.answer(tEssay());
    one.findStore();
    await stopping;
  });
});

describe('a client that has started an order', () => {
  it('D1: finds it after a reconnection of the process in which another client waits for it', async () => {
    const { one, two } = tTwo();
    one.queue();
    void one.essays.generate(keyed('a'), from());
    await pass(100);
    const ordered = await two.start('a');
    await pass(2_000);
    one.recover();
    await pass(100);
    expect(await two.stateOf(ordered)).toMatchObject({ kind: 'queued' });
  });

  it('D2: sees it in the list after a client has left that waited for its key', async () => {
    const { orders, start, calls, essays, queue } = tOrders();
    await start('a');
    calls[0]?.answer(failed);
    await pass(10);
    queue();
    const client = new AbortController();
    const left = essays.generate(keyed('a'), from(ann.id, client.signal)).catch(() => null);
    await pass(10);
    client.abort();
    await left;
    await pass(2_000);
    expect((await listOrders(orders, {})).entries.map(({ order }) => order.id)).toEqual([idOf('a')]);
  });

  it('D3: does not see its failure with the input of another order that is not sent', async () => {
    const { orders, start, calls, essays, queue } = tOrders();
    const ordered = await start('a');
    calls[0]?.answer(failed);
    await pass(10);
    queue();
    void essays.generate({ ...keyed('a'), description: 'Another topic' }, from());
    await pass(10);
    expect(await orders.find(ordered.id, ann.id)).toMatchObject({
      state: { kind: 'failed' },
      input: { description: order.description },
    });
  });

  it('D4: gets the bytes of a deleted order back, also if another client has waited for its key', async () => {
    const { orders, calls, essays } = tOrders({ maxMegabytes: 1 });
    for (let number = 0; number < 70; number += 1) {
      const long = { ...keyed(`key-${number}`), description: 'é'.repeat(10_000) };
      expect(await orders.start(long, ann), `order ${number}`).toHaveProperty('id');
      await pass(0);
      calls.at(-1)?.answer(notSent);
      await pass(0);
      const waiting = essays.generate(long, from());
      await pass(0);
      calls.at(-1)?.answer(failed);
      await waiting;
      expect(await orders.delete(idOf(`key-${number}`), ann.id)).toBe('deleted');
    }
  });

  it('D5: gets the same order for a repeated request, also at the limit of its orders', async () => {
    const { orders } = tOrders({ maxPerCaller: 1 });
    const started = await Promise.all([orders.start(keyed('a'), ann), orders.start(keyed('a'), ann)]);
    expect(started).toEqual([1, 2].map(() => expect.objectContaining({ id: idOf('a') })));
  });

  it('D6: pays for no order after its key was withdrawn, also if another client had waited for that first', async () => {
    let isWithdrawn = false;
    const { one, two } = tTwo({ isWithdrawn: () => isWithdrawn });
    one.queue();
    const client = new AbortController();
    const left = one.essays.generate(keyed('a'), from(ann.id, client.signal)).catch(() => null);
    await pass(100);
    const ordered = await two.start('a');
    await pass(2_000);
    client.abort();
    await left;
    isWithdrawn = true;
    one.leaveQueue();
    await pass(2_000);
    expect(sentBy(one) + sentBy(two)).toBe(0);
    expect(await two.stateOf(ordered)).toMatchObject({ kind: 'failed' });
  });

  it('D7: sees it being written by a live process, although the store was full for some time', async () => {
    const memory = createMemoryStore();
    let isFull = false;
    /** Like the health of an opened store: a process notices that writing works again when it writes. */
    const create = () => {
      let hasFailed = false;
      const write = async <Result>(run: () => Promise<Result>): Promise<Result> => {
        if (isFull) hasFailed = true;
        if (isFull) throw new StoreError('OOM');
        const result = await run();
        if (hasFailed) process.recover();
        hasFailed = false;
        return result;
      };
      const process: Process = tOrders({
        store: {
          ...memory,
          set: (...args) => write(() => memory.set(...args)),
          replace: (...args) => write(() => memory.replace(...args)),
          add: (key, amount, expiry) => {
            const run = () => memory.add(key, amount, expiry);
            return amount === 0 ? run() : write(run);
          },
        },
      });
      return process;
    };
    const idle = create();
    await pass(100);
    const writing = create();
    const ordered = await writing.start('a');
    await pass(2_000);
    isFull = true;
    await pass(20_000);
    isFull = false;
    await pass(5_000);
    expect(await idle.stateOf(ordered)).toMatchObject({ kind: 'writing' });
  });
});

describe('in a process that runs for long', () => {
  it('E1: the number of operations each second does not grow with the pauses between the orders of another one', async () => {
    const memory = createMemoryStore();
    let reads = 0;
    const get: Store['get'] = (key) => {
      if (key.startsWith('essay-process:')) reads += 1;
      return memory.get(key);
    };
    const [one] = [tOrders({ store: memory }), tOrders({ store: { ...memory, get } })];
    for (let number = 0; number < 40; number += 1) {
      await one.start(`key-${number}`);
      one.calls.at(-1)?.answer(tEssay());
      await pass(5_500);
    }
    await one.start('last');
    await pass(2_000);
    reads = 0;
    await pass(1_000);
    expect(reads).toBeLessThanOrEqual(3);
  });

  it('E4: the number of operations each second does not grow with the failures of its store', async () => {
    const memory = createMemoryStore();
    let isFailing = false;
    let reads = 0;
    const set: Store['set'] = (...args) => {
      if (isFailing) throw new StoreError('timed out');
      return memory.set(...args);
    };
    const get: Store['get'] = (key) => {
      if (key.startsWith('essay-process:')) reads += 1;
      return memory.get(key);
    };
    const [one] = [tOrders({ store: { ...memory, set } }), tOrders({ store: { ...memory, get } })];
    await one.start('a');
    for (let failure = 0; failure < 40; failure += 1) {
      isFailing = true;
      await pass(1_000);
      isFailing = false;
      await pass(9_000);
    }
    reads = 0;
    await pass(1_000);
    expect(reads).toBeLessThanOrEqual(3);
  });

  it('E2: orders are not kept that were refused before anything was stored', async () => {
    const memory = createMemoryStore();
    const { orders, loseStore, findStore } = tOrders({ store: memory });
    loseStore();
    for (let number = 0; number < 2_500; number += 1) await orders.start(keyed(`key-${number}`), ann);
    findStore();
    const { records } = countReads(memory);
    await pass(10_000);
    expect(records()).toBeLessThanOrEqual(2_000);
  });

  it('E3: each order that is taken over, or has failed with its process, is reported once', async () => {
    const { memory, one, two, hold } = tTwo();
    const crashed = tOrders({ store: memory, maxRunning: 1 });
    await crashed.start('a');
    await crashed.start('b');
    crashed.crash();
    // Both find the orders; the write of the first takes longer.
    const release = hold(/^replace/);
    await pass(15_000);
    release();
    await pass(15_000);
    const events = [one, two].flatMap(({ fired }) => fired);
    expect(sentBy(one) + sentBy(two)).toBe(1);
    expect.soft(events.filter((event) => event.startsWith('failed'))).toEqual(['failed: UPSTREAM_FAILED']);
    const counts = events.filter((event) => event.startsWith('adopted: ')).map((event) => Number(event.slice(9)));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBe(2);
  });
});
