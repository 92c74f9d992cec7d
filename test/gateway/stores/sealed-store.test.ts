import { describe, expect, it, vi } from 'vitest';
import { createSealing, withSealing } from '../../../src/gateway/stores/sealed-store.ts';
import { createKeyHash } from '../../../src/gateway/stores/store.ts';
import { createMemoryStore } from '../../support/gateway/stores/memory-store.ts';

const minute = { expiresInMs: 60_000 };

/** `passed` are the keys and values that the sealed store passes on. */
function tStore() {
  const passed: string[] = [];
  const store = createMemoryStore();
  const { set } = store;
  vi.spyOn(store, 'set').mockImplementation((key, value, expiry) => {
    passed.push(key, value);
    return set(key, value, expiry);
  });
  return {
    store,
    passed,
    sealedStore: withSealing(store, createSealing(() => 'secret').loadKeys),
  };
}

describe('a sealed store', () => {
  it('returns stored values, and passes keys and values on sealed, equal values differently', async () => {
    const { sealedStore, passed } = tStore();
    await sealedStore.set('iban:DE89370400440532013000', 'Köln, an essay', minute);
    expect(await sealedStore.get('iban:DE89370400440532013000')).toBe('Köln, an essay');
    expect(passed.join()).not.toMatch(/DE89|Köln|essay/);
    expect(Buffer.from(passed[1] ?? '', 'base64').toString('latin1')).not.toContain('essay');
    await sealedStore.set('iban:DE89370400440532013000', 'Köln, an essay', minute);
    const [key, sealed, sameKey, sealedAgain] = passed;
    expect(sameKey).toBe(key);
    expect(sealedAgain).not.toBe(sealed);
  });

  it('never uses a nonce again', async () => {
    const { sealedStore, passed } = tStore();
    for (let value = 0; value < 1_200; value++) await sealedStore.set('k', 'value', minute);
    const nonces = passed.filter((_, index) => index % 2 === 1).map((sealed) => sealed.slice(0, 16));
    expect(new Set(nonces).size).toBe(1_200);
  });

  it('finds nothing with another secret', async () => {
    const { store, sealedStore } = tStore();
    await sealedStore.set('k', 'value', minute);
    expect(await withSealing(store, createSealing(() => 'another secret').loadKeys).get('k')).toBeNull();
  });

  it('rejects values that were changed or moved to another key', async () => {
    const { store, sealedStore, passed } = tStore();
    await sealedStore.set('k', 'value', minute);
    await sealedStore.set('other', 'another value', minute);
    const [key = '', sealed = '', otherKey = ''] = passed;
    await store.set(otherKey, sealed, minute);
    await expect(sealedStore.get('other')).rejects.toThrow('sealed with another secret');
    await store.set(key, `${sealed.startsWith('A') ? 'B' : 'A'}${sealed.slice(1)}`, minute);
    await expect(sealedStore.get('k')).rejects.toThrow('was changed');
    await store.set(key, '', minute);
    await expect(sealedStore.get('k')).rejects.toThrow('was changed');
  });

  it('replaces a value that it knows in one operation, and one that another process has sealed since', async () => {
    const { store, sealedStore: one } = tStore();
    const other = withSealing(store, createSealing(() => 'secret').loadKeys);
    const read = vi.spyOn(store, 'get');
    expect(await one.replace('k', null, 'first', minute)).toBe(true);
    expect(await one.replace('k', 'first', 'second', minute)).toBe(true);
    expect(read).not.toHaveBeenCalled();
    // The same text, sealed differently.
    await other.set('k', 'second', minute);
    expect(await one.replace('k', 'second', 'third', { ...minute, also: [{ key: 'l', value: 'entry' }] })).toBe(true);
    expect([await other.get('k'), await other.get('l')]).toEqual(['third', 'entry']);
    expect(await other.replace('k', 'third', null, minute)).toBe(true);
    expect(await one.replace('k', 'third', 'fourth', minute)).toBe(false);
    expect(await one.replace('k', null, 'fifth', minute)).toBe(true);
  });

  it('passes counters on', async () => {
    const { sealedStore } = tStore();
    expect((await sealedStore.add('c', 2, minute)).sum).toBe(2);
    expect((await sealedStore.add('c', 3, minute)).sum).toBe(5);
  });
});

describe('a hashed key', () => {
  it('is the HMAC-SHA-256 of the text, in base64url', () => {
    // RFC 4231, test case 2: 5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843.
    expect(createKeyHash('Jefe')('what do ya want for nothing?')).toBe('W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM');
  });

  it('differs for different texts and different secrets', () => {
    const iban = 'DE89370400440532013000';
    const hash = createKeyHash('one secret');
    expect(hash(iban)).toBe(createKeyHash('one secret')(iban));
    expect(hash(iban)).not.toBe(hash('DE02120300000000202051'));
    expect(hash(iban)).not.toBe(createKeyHash('another secret')(iban));
  });
});
