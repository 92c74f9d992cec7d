import { describe, expect, it } from 'vitest';
import { toOrderId, toRecordKey } from '../../../../src/gateway/essays/orders/order.ts';
import { type Store, StoreError } from '../../../../src/gateway/stores/store.ts';
import { order, tEssay, unkeyed } from '../../../support/gateway/essays/generator.ts';
import { dayMs, from, pass, tProcess, useFakeTime } from '../../../support/gateway/essays/orders.ts';
import { createMemoryStore, tFailingStore } from '../../../support/gateway/stores/memory-store.ts';

useFakeTime();

const rejection = { kind: 'service-failed', code: 'UPSTREAM_UNAVAILABLE', retryable: true, rawText: null };
const unreadable = { name: 'StoreError' };

/** A process whose store can fail, and the memory behind it. */
function tFailing() {
  const memory = createMemoryStore();
  const { store, fail, work } = tFailingStore(memory);
  return { memory, fail, work, ...tProcess(store) };
}

/** A store each of whose operations takes that long. */
function tSlowStore(ms: number): Store {
  const delayed = Object.entries(createMemoryStore()).map(([name, operate]) => [
    name,
    async (...args: unknown[]) => {
      await new Promise((resolve) => setTimeout(resolve, ms));
      return (operate as (...args: unknown[]) => Promise<unknown>)(...args);
    },
  ]);
  return Object.fromEntries(delayed) as Store;
}

// Redis answers most commands in less than a second, and all in less than two.
it.each([500, 999, 1_999])('an order is written while each operation of the store takes %i ms', async (ms) => {
  const store = tSlowStore(ms);
  const { start, calls, fired } = tProcess(store);
  const { result } = await start(order, from(), 10 * ms);
  expect(calls[0]?.context.usage.upstreamCalls).toBe(1);
  const waiting = await tProcess(store).start(order, from(), 20 * ms);
  const essay = tEssay();
  calls[0]?.answer(essay);
  await pass(10 * ms);
  expect(await Promise.all([result, waiting.result])).toEqual([essay, essay]);
  expect(fired).toEqual([]);
});

describe('while the store fails', () => {
  it('an order with a key is rejected as retryable, without a call, and a query by id fails', async () => {
    const { generate, find, write, calls, fired, fail, work } = tFailing();
    fail();
    await expect(find('any', from())).rejects.toMatchObject(unreadable);
    expect(await generate(order, from())).toMatchObject(rejection);
    expect(calls).toHaveLength(0);
    expect(fired).toEqual(['rejected']);
    work();
    await write(order);
  });

  it('an order without a key is written and returned, and stored when the store works again', async () => {
    const { memory, write, find, fired, fail, work } = tFailing();
    fail();
    const essay = await write(unkeyed);
    expect(fired).toEqual(['buffered: not connected']);
    expect(await find(essay.id, from())).toEqual({ ...essay, isStored: false });
    await pass(5_000);
    work();
    await pass(5_000);
    expect(await tProcess(memory).find(essay.id, from())).toEqual(essay);
  });

  it('an order with a key that was written meanwhile is not written twice', async () => {
    const { memory, start, generate, calls, fired, flush, fail, work } = tFailing();
    const first = await start();
    fail();
    const essay = tEssay();
    calls[0]?.answer(essay);
    expect(await first.result).toEqual({ ...essay, isStored: false });
    expect(await generate(order, from())).toEqual({ ...essay, isStored: false });
    expect(await generate({ ...order, wordCount: 5 }, from())).toMatchObject({
      problems: [{ field: 'idempotencyKey' }],
    });
    expect(fired).toEqual(['buffered: not connected']);
    work();
    await flush();
    expect(await tProcess(memory).generate(order, from())).toEqual(essay);
    expect(calls).toHaveLength(1);
  });

  it('an essay that is stored is returned again even if the store rejects writes', async () => {
    const memory = createMemoryStore();
    const essay = await tProcess(memory).write(order);
    const readOnly = async () => Promise.reject(new StoreError('READONLY'));
    const { generate, calls, fired } = tProcess({ ...memory, set: readOnly, replace: readOnly });
    expect(await generate(order, from())).toEqual(essay);
    expect(calls).toHaveLength(0);
    expect(fired).toEqual([]);
    expect(await generate({ ...order, idempotencyKey: 'another key' }, from())).toMatchObject(rejection);
  });

  it('an order that cannot be recorded as sent is rejected, without a call, and can be sent again later', async () => {
    const memory = createMemoryStore();
    const { generate, calls, queue } = tProcess({
      ...memory,
      set: async () => Promise.reject(new StoreError('READONLY')),
    });
    // Not even for a place in the queue of the service.
    queue();
    expect(await generate(order, from())).toMatchObject(rejection);
    expect(calls).toHaveLength(0);
    await tProcess(memory).write(order);
  });

  it('an order that was recorded as sent by a write that seemed to fail was not sent, and is sent later', async () => {
    const memory = createMemoryStore();
    let isAnswerLost = true;
    const replace: Store['replace'] = async (key, seen, next, options) => {
      const isReplaced = await memory.replace(key, seen, next, options);
      if (!isAnswerLost) return isReplaced;
      isAnswerLost = false;
      throw new StoreError('timed out');
    };
    const { generate, write, calls } = tProcess({ ...memory, replace });
    expect(await generate(order, from())).toMatchObject(rejection);
    expect(calls).toHaveLength(0);
    await write(order);
    expect(calls).toHaveLength(1);
  });

  it('a process that ends reports each essay that it could not store as lost', async () => {
    const { write, close, fired, fail } = tFailing();
    fail();
    for (const _ of [1, 2]) await write(unkeyed);
    await close();
    const lost = 'lost: the store failed until shutdown';
    expect(fired).toEqual(['buffered: not connected', lost, lost]);
  });
});

const essay = tEssay();
const expiry = { expiresInMs: dayMs };
const orderKey = toRecordKey(toOrderId('form-1', 'ann'), 'ann');

/** The stored record of an order that was written. */
async function readStored(): Promise<Record<string, unknown>> {
  const store = createMemoryStore();
  await tProcess(store).write(order);
  return JSON.parse((await store.get(orderKey)) ?? '');
}

describe('a record that cannot be read', () => {
  it.each<[string, (record: Record<string, unknown>) => string]>([
    ['a damaged one', () => '{"version":2,'],
    ['another value', () => 'null'],
    [
      'an incomplete essay',
      (record) => JSON.stringify({ ...record, state: { kind: 'finished', essay: { text: '' } } }),
    ],
    ['an incomplete failure', (record) => JSON.stringify({ ...record, state: { kind: 'failed', failure: {} } })],
    ['an unknown state', (record) => JSON.stringify({ ...record, state: { kind: 'lost' } })],
    ['one without a version', ({ version, ...record }) => JSON.stringify(record)],
    ['one of a later version', (record) => JSON.stringify({ ...record, version: 4 })],
  ])('rejects the order, without a call: %s', async (_, damage) => {
    const store = createMemoryStore();
    await store.set(orderKey, damage(await readStored()), expiry);
    const { generate, calls, fired } = tProcess(store);
    expect(await generate(order, from())).toMatchObject(rejection);
    expect(await generate(order, from())).toMatchObject(rejection);
    expect(calls).toHaveLength(0);
    expect(fired).toEqual(['rejected', 'rejected']);
  });

  it.each([
    ['a damaged one', '['],
    ['an incomplete one', '{"version":1}'],
    ['one of a later version', JSON.stringify({ version: 3, essay })],
  ])('fails a query by id: %s', async (_, text) => {
    const store = { ...createMemoryStore(), get: async () => text };
    await expect(tProcess(store).find(essay.id, from())).rejects.toMatchObject(unreadable);
  });
});
