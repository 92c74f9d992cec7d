import { expect, it } from 'vitest';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { order, tEssay, unkeyed } from '../../../support/gateway/essays/generator.ts';
import { from, pass, tProcess, useFakeTime } from '../../../support/gateway/essays/processes.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

useFakeTime();

/** A process and the operations that it makes on the store. */
function tRecorded(memory: Store = createMemoryStore()) {
  const operations: string[] = [];
  const record = <Args extends [string, ...unknown[]], T>(kind: string, operate: (...args: Args) => T) => {
    return (...args: Args) => {
      operations.push(`${kind} ${args[0].split(':')[0]}`);
      return operate(...args);
    };
  };
  const { get, set, replace, add } = memory;
  const store: Store = {
    ...memory,
    get: record('get', get),
    set: record('set', set),
    replace: record('replace', replace),
    add: record('add', add),
  };
  return { operations, ...tProcess(store) };
}

it('are five before a call with a key, the first of a process, and two after it', async () => {
  const { operations, start, calls, generate } = tRecorded();
  const { result } = await start();
  expect(calls).toHaveLength(1);
  // The sign of life, the entry in the list, and the order as sent, which is the last one.
  const [read, listed, sent] = ['get essay-record', ['add essay-jobs', 'set essay-jobs'], 'replace essay-record'];
  expect(operations.splice(0)).toEqual([read, 'set essay-process', ...listed, sent]);
  const essay = tEssay();
  calls[0]?.answer(essay);
  expect(await result).toEqual(essay);
  expect(operations.splice(0)).toEqual(['set essay', 'replace essay-record']);
  void generate({ ...order, idempotencyKey: 'form-2' }, from());
  await pass(0);
  expect(operations.splice(0)).toEqual([read, ...listed, sent]);
  calls[1]?.answer(essay);
});

it('are none before a call without a key, and one after it', async () => {
  const { operations, start, calls } = tRecorded();
  const { result } = await start(unkeyed);
  expect(calls).toHaveLength(1);
  expect(operations).toEqual([]);
  const essay = tEssay();
  calls[0]?.answer(essay);
  expect(await result).toEqual(essay);
  expect(operations).toEqual(['set essay']);
});

it('are one read for a stored essay, without a call', async () => {
  const memory = createMemoryStore();
  await tProcess(memory).write(order);
  const { operations, generate, calls } = tRecorded(memory);
  await generate(order, from());
  expect(operations).toEqual(['get essay-record']);
  expect(calls).toHaveLength(0);
});
