import { expect, it } from 'vitest';
import type { Expiry, Store } from '../../../../src/gateway/stores/store.ts';
import { order, unkeyed } from '../../../support/gateway/essays/generator.ts';
import { answerAll, from, tProcess, useFakeTime } from '../../../support/gateway/essays/processes.ts';
import { createMemoryStore } from '../../../support/gateway/stores/memory-store.ts';

useFakeTime();

/** A process and the operations that it makes on the store. */
function tRecorded(memory: Store = createMemoryStore()) {
  const kinds: string[] = [];
  const keys = new Set<string>();
  const record = <Args extends unknown[], T>(kind: string, operate: (key: string, ...args: Args) => T) => {
    return (key: string, ...args: Args) => {
      kinds.push(kind);
      keys.add(key);
      return operate(key, ...args);
    };
  };
  const { get, set, setIfAbsent, add, lock } = memory;
  const recordLock = async (key: string, expiry: Expiry) => {
    const held = await lock(key, expiry);
    return held && { ...held, extend: (expiry: Expiry) => record('extend', () => held.extend(expiry))(key) };
  };
  const store: Store = {
    ...memory,
    get: record('get', get),
    set: record('set', set),
    setIfAbsent: record('setIfAbsent', setIfAbsent),
    add: record('add', add),
    lock: record('lock', recordLock),
  };
  tProcess(memory);
  const process = tProcess(store, { isNew: true });
  // Once per process.
  expect(kinds.splice(0)).toEqual(['setIfAbsent']);
  return { kinds, keys, ...process };
}

/** Before the call: the lock, what is known of the order, the lock again, the record of the attempt. */
const before = ['lock', 'get', 'get', 'setIfAbsent', 'extend', 'set'];
const after = ['set', 'setIfAbsent'];

it.each([
  ['a call with a key', async () => {}, ['add', 'set', 'setIfAbsent'], 7],
  ['a retry', (store: Store) => tProcess(store).orderAndFail(), ['add', 'set', 'setIfAbsent', 'lock', 'get', 'set'], 8],
])('are six before %s, and those that list it, and two writes after it', async (_, prepare, listing, keyCount) => {
  const memory = createMemoryStore();
  await prepare(memory);
  const { kinds, keys, start, calls } = tRecorded(memory);
  const { result } = await start();
  expect(calls).toHaveLength(1);
  expect(kinds.toSorted()).toEqual([...before, ...listing].toSorted());
  // The order is listed before it is recorded as sent.
  expect(kinds.at(-1)).toBe('set');
  expect(keys.size).toBe(keyCount);
  await answerAll({ calls }, result);
  expect(kinds.slice(-2)).toEqual(after);
  expect(kinds).toHaveLength(before.length + listing.length + after.length);
});

it('are none before a call without a key', async () => {
  const { kinds, start, calls } = tRecorded();
  const { result } = await start(unkeyed);
  expect(calls).toHaveLength(1);
  expect(kinds).toEqual([]);
  await answerAll({ calls }, result);
  expect(kinds).toEqual(['set']);
});

it('are one lock and three reads for a stored essay, without a call', async () => {
  const memory = createMemoryStore();
  await tProcess(memory).write(order);
  const { kinds, generate, calls } = tRecorded(memory);
  await generate(order, from());
  expect(kinds).toEqual(['lock', 'get', 'get', 'setIfAbsent']);
  expect(calls).toHaveLength(0);
});
