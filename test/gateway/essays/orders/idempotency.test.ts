import { describe, expect, it, vi } from 'vitest';
import type { OrderInput } from '../../../../src/gateway/essays/port.ts';
import { again, order, unkeyed } from '../../../support/gateway/essays/generator.ts';
import {
  answerAll,
  dayMs,
  from,
  pass,
  tDelayed,
  tProcess,
  useFakeTime,
} from '../../../support/gateway/essays/orders.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

useFakeTime();

describe('an order with a key', () => {
  it('is one call for 50 simultaneous orders, counted for the first', async () => {
    const { generate, calls } = tProcess();
    const contexts = Array.from({ length: 50 }, () => from());
    const all = contexts.map((context) => generate(order, context));
    await pass(0);
    await answerAll({ calls }, ...all);
    expect(calls).toHaveLength(1);
    expect(contexts.map(({ usage }) => usage.upstreamCalls)).toEqual([1, ...Array(49).fill(0)]);
  });

  it('returns the stored essay in every process for 30 days', async () => {
    const store = createMemoryStore();
    const first = tProcess(store);
    const essay = await first.write(order);
    const later = tProcess(store);
    await pass(30 * dayMs - 1_000);
    expect(await first.generate(order, from())).toEqual(essay);
    expect(await later.generate(order, from())).toEqual(essay);
    expect([first.calls.length, later.calls.length]).toEqual([1, 0]);
    await pass(1_000);
    await later.write(order);
    expect(later.calls).toHaveLength(1);
  });

  it('is the same order with different surrounding white space', async () => {
    const { write, generate, calls } = tProcess();
    const essay = await write(order);
    const same = { ...order, description: ` ${order.description}\n`, titles: [' Ink', 'Nib '] };
    expect(await generate(same, from())).toEqual(essay);
    expect(calls).toHaveLength(1);
  });

  it.each<[string, Partial<OrderInput>]>([
    ['description', { description: 'The pencil' }],
    ['mode', { mode: 'ACADEMIC' }],
    ['word count', { wordCount: 101 }],
    ['purpose', { purpose: 'NARRATIVE' }],
    ['titles', { titles: ['Ink, Nib'] }],
  ])('is rejected when the %s differs from the running or written order of that key', async (_, difference) => {
    const { start, generate, calls } = tProcess();
    const first = await start();
    const rejection = { kind: 'invalid-input', problems: [{ field: 'idempotencyKey' }] };
    expect(await generate({ ...order, ...difference }, from())).toMatchObject(rejection);
    await answerAll({ calls }, first.result);
    expect(await generate({ ...order, ...difference }, from())).toMatchObject(rejection);
    expect(calls).toHaveLength(1);
  });

  it('may have been paid for if the gateway fails unexpectedly, and is sent again with consent', async () => {
    const { start, write, generate, calls, fired, outcomes } = tProcess();
    const { result } = await start();
    calls[0]?.reject(new Error('a fault'));
    const failure = {
      kind: 'service-failed',
      message: 'The gateway failed unexpectedly. The order may have been paid for.',
      retryable: false,
    };
    expect(await result).toMatchObject(failure);
    expect(await generate(order, from())).toMatchObject(failure);
    expect(fired).toEqual(['Error: a fault']);
    // Alerts count what failed, and not how often clients ask.
    expect(outcomes).toEqual(['failed', 'from_key']);
    await write(again);
    expect(calls).toHaveLength(2);
  });
});

describe('an essay', () => {
  it.each([
    ['with', order],
    ['without', unkeyed],
  ])('%s a key is found by its id, only by its caller, until it expires', async (_, order) => {
    const store = createMemoryStore();
    const { id, ...essay } = await tProcess(store).write(order);
    const { find, calls } = tProcess(store);
    expect(await find(id, from())).toEqual({ id, ...essay });
    expect(await find(id, from('bob'))).toBeNull();
    expect(await find('another', from())).toBeNull();
    await pass(30 * dayMs);
    expect(await find(id, from())).toBeNull();
    expect(calls).toHaveLength(0);
  });

  it('is returned only after it is stored', async () => {
    const { store, proceed } = tDelayed(createMemoryStore(), /^set essay:/);
    const { write } = tProcess(store);
    const onReturn = vi.fn();
    const result = write(unkeyed).then(onReturn);
    await pass(1_000);
    expect(onReturn).not.toHaveBeenCalled();
    proceed();
    await result;
  });
});
