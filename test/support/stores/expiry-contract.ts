import { describe, expect, it } from 'vitest';
import type { Store } from '../../../src/stores/store.ts';

export interface TStore {
  store: Store;
  /** Another client of the same data; the same store if it has only one client. */
  another: () => Store;
  /** Advances the clock of the store. */
  pass: (ms: number) => Promise<void>;
}

const minute = 60_000;
const hour = { expiresInMs: 60 * minute };

/** The part of the store contract that concerns expiry. */
export function describeExpiry(tStore: () => Promise<TStore>): void {
  describe('expiry', () => {
    it('removes a value', async () => {
      const { store, pass } = await tStore();
      await store.set('short', 'value', hour);
      await store.set('long', 'value', { expiresInMs: 2 * hour.expiresInMs });
      await pass(59 * minute);
      expect(await store.get('short')).toBe('value');
      await pass(minute);
      expect(await store.get('short')).toBeNull();
      expect(await store.get('long')).toBe('value');
    });

    it('of a value is replaced when the value is set again', async () => {
      const { store, pass } = await tStore();
      await store.set('longer', 'old', hour);
      await store.set('shorter', 'old', hour);
      await pass(30 * minute);
      await store.set('longer', 'new', hour);
      await store.set('shorter', 'new', { expiresInMs: 10 * minute });
      await pass(15 * minute);
      expect(await store.get('shorter')).toBeNull();
      await pass(15 * minute);
      await store.set('another', 'triggers a sweep', hour);
      expect(await store.get('longer')).toBe('new');
      await pass(30 * minute);
      expect(await store.get('longer')).toBeNull();
    });

    it('lets a value be set again that was set if absent', async () => {
      const { store, pass } = await tStore();
      expect(await store.setIfAbsent('essay', 'first', hour)).toBeNull();
      await pass(59 * minute);
      expect(await store.setIfAbsent('essay', 'second', hour)).toBe('first');
      await pass(minute);
      expect(await store.setIfAbsent('essay', 'third', hour)).toBeNull();
      expect(await store.get('essay')).toBe('third');
    });

    it('of a counter is that of its first add', async () => {
      const { store, pass } = await tStore();
      expect(await store.add('calls', 1, hour)).toBe(1);
      await pass(30 * minute);
      expect(await store.add('calls', 1, hour)).toBe(2);
      await pass(29 * minute);
      expect(await store.add('calls', 1, hour)).toBe(3);
      await pass(minute);
      expect(await store.add('calls', 0, hour)).toBe(0);
      expect(await store.add('calls', 1, hour)).toBe(1);
      await pass(59 * minute);
      expect(await store.add('calls', 1, hour)).toBe(2);
    });

    it('passes a lock on, and its first holder can no longer release or extend it', async () => {
      const { store, another, pass } = await tStore();
      const first = await store.lock('essay', hour);
      await pass(59 * minute);
      expect(await another().lock('essay', hour)).toBeNull();
      await pass(minute);
      const second = await another().lock('essay', hour);
      expect(second).not.toBeNull();
      await first?.release();
      expect(await first?.extend(hour)).toBe(false);
      expect(await store.lock('essay', hour)).toBeNull();
      await second?.release();
      expect(await store.lock('essay', hour)).not.toBeNull();
    });

    it('of a lock is postponed by extending the lock', async () => {
      const { store, pass } = await tStore();
      const lock = await store.lock('essay', hour);
      await pass(59 * minute);
      expect(await lock?.extend(hour)).toBe(true);
      await pass(59 * minute);
      expect(await store.lock('essay', hour)).toBeNull();
      expect(await lock?.extend({ expiresInMs: minute })).toBe(true);
      await pass(minute);
      expect(await lock?.extend(hour)).toBe(false);
      expect(await store.lock('essay', hour)).not.toBeNull();
    });
  });
}
