import { describe, expect, it, vi } from 'vitest';
import type { EssayOrder, OrderInput } from '../../../../src/gateway/essays/port.ts';
import { StoreError } from '../../../../src/gateway/stores/store.ts';
import { order, tEssay, unknownOutcome } from '../../../support/gateway/essays/generator.ts';
import { ann, from, listOrders, pass, tOrders, useFakeTime } from '../../../support/gateway/essays/orders.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

/* Orders of `generateEssay`, whose clients wait for them, as `essayOrder` shows them. */

useFakeTime();

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
    expect(await process.orders.delete(id, ann.id)).toMatchObject({ result: 'not-ended' });
    const essay = tEssay();
    process.calls[0]?.answer(essay);
    expect(await result).toEqual(essay);
    expect(await process.orders.delete(id, ann.id)).toMatchObject({ result: 'deleted' });
    await pass(1);
    expect(await process.orders.findByKey('a', ann.id)).toBeNull();
    expect(await process.orders.delete(id, ann.id)).toMatchObject({ result: 'unknown' });
    expect(await list(process)).toEqual([]);
    expect(await process.essays.find(essay.id, from())).toBeNull();
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

  it('that is cancelled after it was sent says so to a client that waits for it', async () => {
    const process = tOrders({ cancelsSent: true });
    const ordered = await process.start('a');
    const { result } = await generate(process);
    expect(await process.orders.cancel(ordered.id, ann.id)).toMatchObject({ isCancelled: true, mayHaveBeenPaid: true });
    expect(await result).toMatchObject({
      kind: 'service-failed',
      code: 'UPSTREAM_FAILED',
      message: 'The order was cancelled after it was sent. It may have been paid for.',
      retryable: false,
    });
    expect(process.fired).toEqual(['cancelled']);
    await process.orders.stop();
  });

  it('that is started while its client waits for its turn is sent once', async () => {
    const process = tOrders();
    process.queue();
    const { result } = await generate(process);
    expect((await process.start('a')).state).toMatchObject({ kind: 'queued' });
    for (const _ of [1, 2]) {
      process.leaveQueue();
      await pass(2_000);
    }
    const sent = process.calls.filter(({ context }) => context.usage.upstreamCalls > 0);
    expect(sent).toHaveLength(1);
    const essay = tEssay();
    sent[0]?.answer(essay);
    await pass(1_000);
    expect(await result).toEqual(essay);
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
});
