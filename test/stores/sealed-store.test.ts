import { describe, expect, it } from 'vitest';
import { withSealing } from '../../src/stores/sealed-store.ts';
import type { Store } from '../../src/stores/store.ts';
import { createMemoryStore } from './memory-store.ts';

const kept = { expiresInMs: 60_000 };

/** A memory store that records what it is handed. */
function tStore() {
  const handed: string[] = [];
  const memory = createMemoryStore();
  const store: Store = {
    ...memory,
    set: (key, value, options) => {
      handed.push(key, value);
      return memory.set(key, value, options);
    },
  };
  return { store, handed, sealedStore: withSealing(store, () => 'secret') };
}

describe('a sealed store', () => {
  it('answers what was kept, and shows none of it to the store behind', async () => {
    const { sealedStore, handed } = tStore();
    await sealedStore.set('iban:DE89370400440532013000', 'Köln, an essay', kept);
    expect(await sealedStore.get('iban:DE89370400440532013000')).toBe('Köln, an essay');
    expect(handed.join()).not.toMatch(/DE89|Köln|essay/);
    expect(Buffer.from(handed[1] ?? '', 'base64').toString('latin1')).not.toContain('essay');
  });

  it('seals the same value otherwise each time', async () => {
    const { sealedStore, handed } = tStore();
    await sealedStore.set('k', 'value', kept);
    await sealedStore.set('k', 'value', kept);
    expect(handed[0]).toBe(handed[2]);
    expect(handed[1]).not.toBe(handed[3]);
  });

  it('finds nothing under another secret', async () => {
    const { store, sealedStore } = tStore();
    await sealedStore.set('k', 'value', kept);
    expect(await withSealing(store, () => 'another secret').get('k')).toBeNull();
  });

  it('does not answer what was changed, or moved to another key', async () => {
    const { store, sealedStore, handed } = tStore();
    await sealedStore.set('k', 'value', kept);
    await sealedStore.set('other', 'another value', kept);
    const [key = '', box = '', otherKey = ''] = handed;
    await store.set(otherKey, box, kept);
    await expect(sealedStore.get('other')).rejects.toThrow('sealed with another secret');
    await store.set(key, `A${box.slice(1)}`, kept);
    await expect(sealedStore.get('k')).rejects.toThrow('was changed');
    await store.set(key, '', kept);
    await expect(sealedStore.get('k')).rejects.toThrow('was changed');
  });

  it('counts and locks under the same rules', async () => {
    const { sealedStore } = tStore();
    expect(await sealedStore.add('c', 2, kept)).toBe(2);
    expect(await sealedStore.add('c', 3, kept)).toBe(5);
    const lock = await sealedStore.lock('l', kept);
    expect(await sealedStore.lock('l', kept)).toBeNull();
    await lock?.release();
    expect(await sealedStore.lock('l', kept)).not.toBeNull();
  });
});
