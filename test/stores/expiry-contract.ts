import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/stores/store.ts';

export interface TStore {
  store: Store;
  /** Another client of the same data; one that only knows one client answers the same again. */
  another: () => Store;
  /** Lets time pass, as far as the store can tell. */
  pass: (ms: number) => Promise<void>;
}

const minute = 60_000;
const hour = { expiresInMs: 60 * minute };

/** The part of the contract of stores that needs time to pass. */
export function describeExpiry(tStore: () => Promise<TStore>): void {
  describe('as time passes', () => {
    it('lets a value go when its time is over', async () => {
      const { store, pass } = await tStore();
      await store.set('short', 'value', hour);
      await store.set('long', 'value', { expiresInMs: 2 * hour.expiresInMs });
      await pass(59 * minute);
      expect(await store.get('short')).toBe('value');
      await pass(minute);
      expect(await store.get('short')).toBeNull();
      expect(await store.get('long')).toBe('value');
    });

    it('keeps a value that was set anew for as long as it was then asked to', async () => {
      const { store, pass } = await tStore();
      await store.set('longer', 'old', hour);
      await store.set('shorter', 'old', hour);
      await pass(30 * minute);
      await store.set('longer', 'new', hour);
      await store.set('shorter', 'new', { expiresInMs: 10 * minute });
      await pass(15 * minute);
      expect(await store.get('shorter')).toBeNull();
      await pass(15 * minute);
      await store.set('another', 'so that there is a write', hour);
      expect(await store.get('longer')).toBe('new');
      await pass(30 * minute);
      expect(await store.get('longer')).toBeNull();
    });

    it('starts a counter again when its first expiry is over, however much was added since', async () => {
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

    it('hands a lock on that has expired, and its first holder can no longer free or prolong it', async () => {
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

    it('holds a lock on for as long as it is extended', async () => {
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
