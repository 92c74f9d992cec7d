import { describe, expect, it, vi } from 'vitest';
import { AbortableSignal } from '../../../../src/base/async/signal.ts';
import type { EssayOrder, EssayResult, OrderInput } from '../../../../src/gateway/essays/port.ts';
import { StoreError } from '../../../../src/gateway/stores/store.ts';
import { failed, order, tEssay, unknownOutcome } from '../../../support/gateway/essays/generator.ts';
import { ann, listOrders, tOrders } from '../../../support/gateway/essays/orders.ts';
import { dayMs, from, pass, useFakeTime } from '../../../support/gateway/essays/processes.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

/* Orders of `generateEssay`, whose clients wait for them, as `essayOrder` shows them. */

useFakeTime();

const notSent = { ...failed, code: 'UPSTREAM_UNAVAILABLE' } as EssayResult;

type Process = ReturnType<typeof tOrders>;

/** Orders an essay with this key, and lets it be sent. */
async function generate({ essays }: Process, idempotencyKey = 'a', changes: Partial<OrderInput> = {}) {
  const result = essays.generate({ ...order, ...changes, idempotencyKey }, from());
  await pass(0);
  return { result };
}

async function find({ orders }: Process, key = 'a'): Promise<EssayOrder> {
  const ordered = await orders.findByKey(key, ann.id);
  if (ordered === null) throw new Error('there is no such order');
  return ordered;
}

const list = async ({ orders }: Process, state: 'finished' | null = null) =>
  (await listOrders(orders, { state })).entries.map(({ order }) => order);

describe('an order whose client waits for it', () => {
  it('is found by its key and its id, and listed, only for its caller, from when it is sent', async () => {
    const process = tOrders();
    process.queue();
    const { result } = await generate(process);
    expect(await process.orders.findByKey('a', ann.id)).toBeNull();
    expect(await list(process)).toEqual([]);
    process.leaveQueue();
    await pass(0);
    const ordered = await find(process);
    expect(ordered).toMatchObject({
      state: { kind: 'writing', textSoFar: '' },
      input: { description: order.description },
    });
    const essay = tEssay();
    process.calls[0]?.answer(essay);
    await result;
    const finished = { ...ordered, bytes: expect.any(Number), state: { kind: 'finished', essayId: essay.id } };
    expect(await find(process)).toEqual(finished);
    expect(await process.orders.find(ordered.id, ann.id)).toEqual(finished);
    expect(await list(process, 'finished')).toEqual([finished]);
    expect(await process.orders.find(ordered.id, 'bob')).toBeNull();
    expect(await process.orders.findByKey('a', 'bob')).toBeNull();
    await process.orders.stop();
  });

  it('that was not sent is none, also if its client has left', async () => {
    const process = tOrders();
    process.queue();
    const client = new AbortController();
    const result = process.essays.generate({ ...order, idempotencyKey: 'a' }, from(ann.id, client.signal));
    await pass(0);
    const hasLeft = expect(result).rejects.toThrow();
    client.abort();
    await hasLeft;
    expect(await process.orders.findByKey('a', ann.id)).toBeNull();
    expect(await list(process)).toEqual([]);
    await process.orders.stop();
  });

  it('shows its last failure for as long as essays are stored, and is sent again by its client', async () => {
    const process = tOrders();
    const first = await generate(process);
    process.calls[0]?.answer(failed);
    expect(await first.result).toEqual(failed);
    await pass(dayMs / 2);
    const ordered = await find(process);
    expect(ordered.state).toEqual({ kind: 'failed', failure: failed });
    const second = await generate(process);
    expect((await find(process)).state).toMatchObject({ kind: 'writing' });
    process.calls[1]?.answer(tEssay());
    await second.result;
    expect(await list(process)).toMatchObject([{ id: ordered.id, state: { kind: 'finished' } }]);
    await process.orders.stop();
  });

  it('shows the order that its key is used for after a failure', async () => {
    const process = tOrders();
    const first = await generate(process);
    process.calls[0]?.answer(failed);
    await first.result;
    const second = await generate(process, 'a', { description: 'Pencils' });
    expect(await find(process)).toMatchObject({ state: { kind: 'writing' }, input: { description: 'Pencils' } });
    process.calls[1]?.answer(tEssay());
    await second.result;
    expect(await list(process)).toHaveLength(1);
    await process.orders.stop();
  });

  it('is watched in another process to its end', async () => {
    const store = createMemoryStore();
    const [here, there] = [tOrders({ store }), tOrders({ store })];
    const { result } = await generate(here);
    const seen: unknown[] = [];
    const watching = (async () => {
      const { id } = await find(there);
      for await (const ordered of await there.orders.watch(id, ann.id, new AbortableSignal()))
        seen.push(ordered?.state.kind);
    })();
    await pass(20_000);
    here.calls[0]?.answer(tEssay());
    await result;
    await pass(1_000);
    await watching;
    expect(seen).toEqual(['writing', 'finished']);
    await Promise.all([here.orders.stop(), there.orders.stop()]);
  });

  it.each([
    ['', 0],
    [', also if the clock is set back', 3_600_000],
  ])('may have been paid for when its process has crashed, and no other process sends it%s', async (_, setBackMs) => {
    const store = createMemoryStore();
    const [first, second] = [tOrders({ store }), tOrders({ store })];
    const { result } = await generate(first);
    await pass(1_000);
    first.crash();
    vi.setSystemTime(Date.now() - setBackMs);
    expect((await find(second)).state).toMatchObject({ kind: 'writing' });
    await pass(2_000);
    expect((await find(second)).state).toEqual({ kind: 'failed', failure: unknownOutcome });
    expect(second.calls).toEqual([]);
    first.findStore();
    const essay = tEssay();
    first.calls[0]?.answer(essay);
    await result;
    expect((await find(second)).state).toEqual({ kind: 'finished', essayId: essay.id });
    await Promise.all([first.orders.stop(), second.orders.stop()]);
  });

  it('is not cancelled, and is deleted with its essay only after its end', async () => {
    const process = tOrders({ cancelsSent: true });
    const { result } = await generate(process);
    const { id } = await find(process);
    expect(await process.orders.find(id, ann.id)).toMatchObject({ isCancellable: false });
    expect(await process.orders.cancel(id, ann.id)).toMatchObject({ isCancelled: false, mayHaveBeenPaid: true });
    expect(await process.orders.delete(id, ann.id)).toBe('not-ended');
    const essay = tEssay();
    process.calls[0]?.answer(essay);
    expect(await result).toEqual(essay);
    expect(await process.orders.delete(id, ann.id)).toBe('deleted');
    await pass(1);
    expect(await process.orders.findByKey('a', ann.id)).toBeNull();
    expect(await process.orders.delete(id, ann.id)).toBe('unknown');
    expect(await list(process)).toEqual([]);
    expect(await process.essays.archive.find(essay.id, from())).toBeNull();
    const again = await generate(process);
    process.calls[1]?.answer(tEssay());
    await again.result;
    expect(await list(process)).toHaveLength(1);
    await process.orders.stop();
  });

  it('is written also if it cannot be listed', async () => {
    const store = createMemoryStore();
    const add: typeof store.add = (key, amount, expiry) =>
      amount > 0 && key.startsWith('essay-jobs:')
        ? Promise.reject(new StoreError('not connected'))
        : store.add(key, amount, expiry);
    const process = tOrders({ store: { ...store, add } });
    const { result } = await generate(process);
    const essay = tEssay();
    process.calls[0]?.answer(essay);
    expect(await result).toEqual(essay);
    expect(await list(process)).toEqual([]);
    await process.orders.stop();
  });

  it('that ends with its process while its state is read has no unknown outcome', async () => {
    const store = createMemoryStore();
    const here = tOrders({ store });
    const { get } = store;
    let beforeLook = async () => {};
    const isLease = (key: string) => key.startsWith('essay-process:');
    const there = tOrders({
      store: { ...store, get: (key) => (isLease(key) ? beforeLook() : Promise.resolve()).then(() => get(key)) },
    });
    const { result } = await generate(here);
    const essay = tEssay();
    beforeLook = async () => {
      here.calls[0]?.answer(essay);
      await result;
      await here.orders.stop();
    };
    expect((await find(there)).state).not.toMatchObject({ kind: 'failed' });
    expect((await find(there)).state).toEqual({ kind: 'finished', essayId: essay.id });
    await there.orders.stop();
  });

  it('is deleted before it is sent again, and then sent once', async () => {
    const store = createMemoryStore();
    const [here, there] = [tOrders({ store }), tOrders({ store })];
    const first = await generate(here);
    here.calls[0]?.answer(failed);
    await first.result;
    const { id } = await find(there);
    here.queue();
    const second = await generate(here);
    expect((await find(there)).state).toMatchObject({ kind: 'failed' });
    expect(await there.orders.delete(id, ann.id)).toBe('deleted');
    for (const _ of [1, 2]) {
      here.leaveQueue();
      await pass(0);
    }
    const usages = new Set([...here.calls, ...there.calls].map(({ context }) => context.usage));
    expect([...usages].map(({ upstreamCalls }) => upstreamCalls)).toEqual([1, 1]);
    expect(await there.orders.delete(id, ann.id)).toBe('not-ended');
    here.calls.at(-1)?.answer(tEssay());
    await second.result;
    expect(await there.orders.delete(id, ann.id)).toBe('deleted');
    await Promise.all([here.orders.stop(), there.orders.stop()]);
  });

  it('is listed before it may be paid for', async () => {
    const process = tOrders();
    let listed: Promise<EssayOrder[]> | undefined;
    process.beforeSent(() => {
      listed = list(process);
    });
    const { result } = await generate(process);
    expect(await listed).toMatchObject([{ state: { kind: 'writing' } }]);
    process.calls[0]?.answer(tEssay());
    await result;
    await process.orders.stop();
  });
});

describe('an order with one key', () => {
  it('is one, whether its client waits for it or starts it', async () => {
    const process = tOrders();
    const { result } = await generate(process);
    const started = await process.start('a');
    expect(started).toEqual(await find(process));
    expect(process.orders.status()).toMatchObject({ running: 0, waiting: 0 });
    process.calls[0]?.answer(tEssay());
    await result;
    expect(await process.start('a')).toMatchObject({ id: started.id, state: { kind: 'finished' } });
    expect(process.calls).toHaveLength(1);
    const different = { ...order, description: 'Pencils', idempotencyKey: 'a' };
    expect(await process.orders.start(different, ann)).toMatchObject({
      kind: 'invalid-input',
      problems: [{ field: 'idempotencyKey' }],
    });
    await process.orders.stop();
  });

  it('that has failed for its client is started with orderAgain, and listed once', async () => {
    const process = tOrders();
    const { result } = await generate(process);
    process.calls[0]?.answer(failed);
    await result;
    expect((await process.start('a')).state).toEqual({ kind: 'failed', failure: failed });
    const ordered = await process.start('a', { orderAgain: true });
    expect(process.calls).toHaveLength(2);
    process.calls[1]?.answer(tEssay());
    await pass(0);
    expect(await list(process)).toMatchObject([{ id: ordered.id, state: { kind: 'finished' } }]);
    await process.orders.stop();
  });

  it('that has failed as a started order shows the essay that its client then waited for', async () => {
    const process = tOrders();
    const ordered = await process.start('a');
    process.calls[0]?.answer(notSent);
    await pass(0);
    expect(await process.stateOf(ordered)).toMatchObject({ kind: 'failed' });
    const { result } = await generate(process);
    expect(await process.stateOf(ordered)).toMatchObject({ kind: 'writing' });
    const essay = tEssay();
    process.calls[1]?.answer(essay);
    await result;
    expect(await process.stateOf(ordered)).toEqual({ kind: 'finished', essayId: essay.id });
    expect(await list(process)).toHaveLength(1);
    await process.orders.stop();
  });

  it('that is cancelled after it was sent says so to a client that waits for it', async () => {
    const process = tOrders({ cancelsSent: true });
    const ordered = await process.start('a');
    const { result } = await generate(process);
    const seen = expect(result).rejects.toMatchObject({
      code: 'UPSTREAM_FAILED',
      message: 'The order was cancelled after it was sent. It may have been paid for.',
    });
    expect(await process.orders.cancel(ordered.id, ann.id)).toMatchObject({ isCancelled: true, mayHaveBeenPaid: true });
    await seen;
    expect(process.fired).toEqual(['cancelled']);
    await process.orders.stop();
  });

  it('that is cancelled before it was sent is sent for a client that waits for it', async () => {
    const process = tOrders();
    process.queue();
    const ordered = await process.start('a');
    const { result } = await generate(process);
    expect(await process.orders.cancel(ordered.id, ann.id)).toMatchObject({
      isCancelled: true,
      mayHaveBeenPaid: false,
    });
    await pass(0);
    process.leaveQueue();
    await pass(0);
    const essay = tEssay();
    process.calls.at(-1)?.answer(essay);
    expect(await result).toEqual(essay);
    expect(await process.stateOf(ordered)).toEqual({ kind: 'finished', essayId: essay.id });
    await process.orders.stop();
  });

  it('remains a started order while a client waits for it as well', async () => {
    const process = tOrders({ cancelsSent: true });
    const ordered = await process.start('a');
    const { result } = await generate(process);
    expect(process.calls).toHaveLength(1);
    expect(process.orders.status()).toMatchObject({ running: 1 });
    const essay = tEssay();
    process.calls[0]?.answer(essay);
    expect(await result).toEqual(essay);
    await pass(0);
    expect(await process.stateOf(ordered)).toEqual({ kind: 'finished', essayId: essay.id });
    await process.orders.stop();
  });
});
