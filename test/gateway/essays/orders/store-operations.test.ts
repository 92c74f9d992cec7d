import { expect, it } from 'vitest';
import type { Store } from '../../../../src/gateway/stores/store.ts';
import { order, tEssay, unkeyed } from '../../../support/gateway/essays/generator.ts';
import { from, tProcess, useFakeTime } from '../../../support/gateway/essays/processes.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

useFakeTime();

/** A process and the operations that it makes on the store. */
function tRecorded(memory: Store = createMemoryStore()) {
  const kinds: string[] = [];
  const record = <Args extends unknown[], T>(kind: string, operate: (...args: Args) => T) => {
    return (...args: Args) => {
      kinds.push(kind);
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
  tProcess(memory);
  const process = tProcess(store, { isNew: true });
  // Once per process.
  expect(kinds.splice(0)).toEqual(['get']);
  return { kinds, ...process };
}

const count = (kinds: readonly string[]) =>
  kinds.reduce<Record<string, number>>((counts, kind) => {
    counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }, {});

/*
 * Before the call: what is known of the order and its lease, the process in
 * the list of processes, its lease with the names of its orders, the order as queued and as sent, and its entry in the list.
 */
const before = { get: 6, set: 3, add: 1, replace: 3 };

it('are thirteen before a call with a key, and three after it', async () => {
  const { kinds, start, calls } = tRecorded();
  const { result } = await start();
  expect(calls).toHaveLength(1);
  expect(count(kinds)).toEqual(before);
  // It is recorded as sent last.
  expect(kinds.at(-1)).toBe('replace');
  kinds.splice(0);
  const essay = tEssay();
  calls[0]?.answer(essay);
  expect(await result).toEqual(essay);
  expect(kinds).toEqual(['set', 'get', 'replace']);
});

it('are none before a call without a key, and one after it', async () => {
  const { kinds, start, calls } = tRecorded();
  const { result } = await start(unkeyed);
  expect(calls).toHaveLength(1);
  expect(kinds).toEqual([]);
  const essay = tEssay();
  calls[0]?.answer(essay);
  expect(await result).toEqual(essay);
  expect(kinds).toEqual(['set']);
});

it('are one read for a stored essay, without a call', async () => {
  const memory = createMemoryStore();
  await tProcess(memory).write(order);
  const { kinds, generate, calls } = tRecorded(memory);
  await generate(order, from());
  expect(kinds).toEqual(['get']);
  expect(calls).toHaveLength(0);
});
