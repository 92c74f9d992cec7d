import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createSealing, withSealing } from '../../../src/gateway/stores/sealed-store.ts';
import { createSharedValues, type SharedCommands } from '../../../src/gateway/stores/shared-values.ts';
import { StoreError } from '../../../src/gateway/stores/store.ts';
import { createMemoryStore } from '../../support/gateway/stores/memory-store.ts';

const hour = { expiresInMs: 3_600_000 };

beforeEach(() => {
  vi.useFakeTimers();
});

/** Shared values above a store that counts the commands for them. */
function tSharedValues(changes: Partial<Parameters<typeof createSharedValues>[0]> = {}) {
  const store = createMemoryStore();
  const loadKeys = createSealing(() => 'secret').loadKeys;
  const commands = {
    readMany: vi.fn<SharedCommands['readMany']>((names) => Promise.all(names.map(store.get))),
    writeMany: vi.fn<SharedCommands['writeMany']>(async (entries) => {
      for (const { name, value, expiresInMs } of entries) await store.set(name, value, { expiresInMs });
    }),
  };
  const observeWrite = vi.fn((write: () => Promise<void>) => write());
  const options = { commands, loadKeys, isOurs: () => true, observeWrite, ...changes };
  return { ...createSharedValues(options), commands, observeWrite, store, sealed: withSealing(store, loadKeys) };
}

/** Lets a command be sent and answered. */
const send = () => vi.advanceTimersByTimeAsync(5);

describe('shared values', () => {
  it('are read with one command by all who ask in one turn of the event loop', async () => {
    const { values, commands } = tSharedValues();
    for (const key of ['a', 'b', 'c']) values.write(key, `value of ${key}`, hour);
    await send();
    const lists = Promise.all([values.readMany(['a', 'missing']), values.readMany(['c', 'b', 'a'])]);
    await send();
    expect(await lists).toEqual([
      ['value of a', null],
      ['value of c', 'value of b', 'value of a'],
    ]);
    expect(commands.readMany).toHaveBeenCalledOnce();
    const later = values.readMany(['a']);
    await send();
    expect(await later).toEqual(['value of a']);
    expect(commands.readMany).toHaveBeenCalledTimes(2);
  });

  it('are written with one command, in which they are sealed', async () => {
    const { values, commands, sealed, store } = tSharedValues();
    for (const key of ['a', 'b', 'c']) values.write(key, 'personal', hour);
    expect(commands.writeMany).not.toHaveBeenCalled();
    await send();
    expect(commands.writeMany).toHaveBeenCalledOnce();
    expect(JSON.stringify(commands.writeMany.mock.calls)).not.toContain('personal');
    expect(await store.get('a')).toBeNull();
    expect(await sealed.get('a')).toBe('personal');
  });

  it('are not read in commands with far more than a thousand keys', async () => {
    const { values, commands } = tSharedValues();
    const keys = Array.from({ length: 600 }, (_, index) => `key-${index}`);
    const lists = Promise.all([values.readMany(keys), values.readMany(keys), values.readMany(keys)]);
    await send();
    expect((await lists).map((list) => list.length)).toEqual([600, 600, 600]);
    expect(commands.readMany.mock.calls.map(([names]) => names.length)).toEqual([1_200, 600]);
  });

  it('are written before the store is closed', async () => {
    const { values, flush, commands } = tSharedValues();
    values.write('a', 'value', hour);
    await flush();
    expect(commands.writeMany).toHaveBeenCalledOnce();
    await send();
    expect(commands.writeMany).toHaveBeenCalledOnce();
  });

  it('are neither read nor written while the store may have another secret', async () => {
    const { values, commands } = tSharedValues({ isOurs: () => false });
    values.write('a', 'value', hour);
    expect(await values.readMany(['a', 'b'])).toEqual([null, null]);
    await send();
    expect([commands.readMany, commands.writeMany].map(({ mock }) => mock.calls)).toEqual([[], []]);
  });

  it('are missing where they were changed', async () => {
    const { values, store } = tSharedValues();
    values.write('a', 'value', hour);
    values.write('b', 'value', hour);
    await send();
    const nameOf = (key: string) =>
      createSealing(() => 'secret')
        .loadKeys()
        .hash(key);
    await store.set(nameOf('b'), (await store.get(nameOf('a'))) ?? '', hour);
    const read = values.readMany(['a', 'b']);
    await send();
    expect(await read).toEqual(['value', null]);
  });

  it('report that they cannot be read, or written, and do not end the process', async () => {
    const failing = () => Promise.reject(new StoreError('OOM'));
    const { values, observeWrite } = tSharedValues({ commands: { readMany: failing, writeMany: failing } });
    values.write('a', 'value', hour);
    const read = expect(values.readMany(['a'])).rejects.toThrow('OOM');
    await send();
    await read;
    await expect(observeWrite.mock.results[0]?.value).rejects.toThrow('OOM');
  });
});
