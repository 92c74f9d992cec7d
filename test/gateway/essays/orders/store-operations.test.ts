import { expect, it } from 'vitest';
import { createSealing, withSealing } from '../../../../src/gateway/stores/sealed-store.ts';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { order, tEssay, unkeyed } from '../../../support/gateway/essays/generator.ts';
import { ann, from, keyed, pass, tOrders, tProcess, useFakeTime } from '../../../support/gateway/essays/orders.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

/* Operations of the store under the encryption: with Redis, each of them is one command. */

useFakeTime();

function tRecorded(memory: Store = createMemoryStore()) {
  const operations: string[] = [];
  const recorded = Object.entries(memory).map(([name, operate]) => [
    name,
    (...args: unknown[]) => {
      operations.push(name);
      return (operate as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  const sealing = createSealing(() => 'a-secret-of-the-test-with-32-characters');
  const store = withSealing(Object.fromEntries(recorded) as unknown as Store, sealing.loadKeys);
  return { operations: () => operations.splice(0), store };
}

it('are four before a call of generateEssay, the first of a process, and one after it', async () => {
  const { operations, store } = tRecorded();
  const { start, calls, generate } = tProcess(store);
  const { result } = await start();
  expect(calls).toHaveLength(1);
  // What is known, the sign of life, the number in the list, and the order as sent with its entry, which is the last one.
  expect(operations()).toEqual(['get', 'set', 'add', 'replace']);
  const essay = tEssay();
  calls[0]?.answer(essay);
  expect(await result).toEqual(essay);
  // The end, with the id of the essay.
  expect(operations()).toEqual(['replace']);
  void generate(keyed('form-2'), from());
  await pass(0);
  expect(operations()).toEqual(['get', 'add', 'replace']);
  calls[1]?.answer(essay);
});

it('are five before a call of startEssay, the first of a process, and one after it', async () => {
  const { operations, store } = tRecorded();
  const { orders, calls } = tOrders({ store });
  await pass(0);
  operations();
  await orders.start(keyed('a'), ann);
  await pass(0);
  expect(calls).toHaveLength(1);
  // What is known, the bytes and numbers, the order as queued with its entries, the sign of life, and the order as sent.
  expect(operations()).toEqual(['get', 'addAll', 'replace', 'set', 'replace']);
  calls[0]?.answer(tEssay());
  await pass(0);
  expect(operations()).toEqual(['replace']);
  await orders.stop();
});

it('are none before a call without a key, and one after it', async () => {
  const { operations, store } = tRecorded();
  const { start, calls } = tProcess(store);
  const { result } = await start(unkeyed);
  expect(calls).toHaveLength(1);
  expect(operations()).toEqual([]);
  const essay = tEssay();
  calls[0]?.answer(essay);
  expect(await result).toEqual(essay);
  expect(operations()).toEqual(['set']);
});

it('are one read for a stored essay, without a call', async () => {
  const { operations, store } = tRecorded();
  await tProcess(store).write(order);
  operations();
  const { generate, calls } = tProcess(store);
  await generate(order, from());
  expect(operations()).toEqual(['get']);
  expect(calls).toHaveLength(0);
});
