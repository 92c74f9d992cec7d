import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { getOrCreate, type Store } from '../../../../src/gateway/stores/store.ts';
import { anyCharacter, rounds } from '../../random.ts';

const minute = 60_000;
const hour = { expiresInMs: 60 * minute };
/** Of all stores, in characters. */
const maxKeyLength = 500;

interface TStore {
  store: Store;
  /** Another client of the same data; the same store if it has only one client. */
  another: () => Store;
  /** Advances the clock of the store. */
  pass: (ms: number) => Promise<void>;
}

/** The contract of all stores. `tStore` creates an empty one that is closed when the test ends. */
export function describeStore(
  name: string,
  tStore: () => Promise<TStore>,
  { skip = false, hasTransactions = true } = {},
): void {
  describe.skipIf(skip)(name, () => {
    it('returns the value that was set last, to every client', async () => {
      const { store, another } = await tStore();
      expect(await store.get('essay')).toBeNull();
      await store.set('essay', 'first', hour);
      await store.set('essay', 'second', hour);
      expect(await store.get('essay')).toBe('second');
      expect(await another().get('essay')).toBe('second');
      expect(await store.get('other')).toBeNull();
    });

    it('replaces only the value that was seen, as one of concurrent clients', async () => {
      const { store, another } = await tStore();
      const clients = [store, another()];
      const race = async (seen: string | null, names: string) => {
        const tries = Array.from({ length: 50 }, (_, index) => `${names} ${index}`);
        const results = await Promise.all(tries.map((next, i) => clients[i % 2]?.replace('order', seen, next, hour)));
        expect(results.filter((result) => result)).toEqual([true]);
        const winner = `${names} ${results.indexOf(true)}`;
        expect(await another().get('order')).toBe(winner);
        return winner;
      };
      const first = await race(null, 'first');
      const second = await race(first, 'second');
      expect(await store.replace('order', first, 'third', hour)).toBe(false);
      expect(await store.replace('order', null, 'third', hour)).toBe(false);
      expect(await store.replace('order', first, null, hour)).toBe(false);
      expect(await another().replace('order', second, '', hour)).toBe(true);
      expect(await store.replace('order', '', null, hour)).toBe(true);
      expect(await another().get('order')).toBeNull();
      expect(await store.replace('missing', 'seen', 'next', hour)).toBe(false);
      expect(await store.replace('missing', null, null, hour)).toBe(true);
    });

    it('writes and removes further values with a value that is replaced, and not if it is not', async () => {
      const { store, another } = await tStore();
      await store.set('old entry', 'entry', hour);
      const also = [
        { key: 'entry', value: 'of the order' },
        { key: 'empty', value: '' },
        { key: 'old entry', value: null },
        { key: 'missing', value: null },
      ];
      const read = () => Promise.all(['order', ...also.map(({ key }) => key)].map((key) => another().get(key)));
      expect(await store.replace('order', null, 'first', { ...hour, also })).toBe(true);
      const replaced = ['first', 'of the order', '', null, null];
      expect(await read()).toEqual(replaced);
      const later = [
        { key: 'old entry', value: 'later' },
        { key: 'empty', value: null },
      ];
      expect(await another().replace('order', 'first', null, { ...hour, also: later })).toBe(true);
      expect(await read()).toEqual([null, 'of the order', null, 'later', null]);
      if (!hasTransactions) return;
      expect(await store.replace('order', 'first', 'second', { ...hour, also })).toBe(false);
      expect(await read()).toEqual([null, 'of the order', null, 'later', null]);
    });

    it('adds to several counters at once, and reads those to which it adds 0', async () => {
      const { store, another } = await tStore();
      await store.add('first', 3, hour);
      const amounts = [
        { key: 'first', amount: -1, ...hour },
        { key: 'second', amount: 5, expiresInMs: 60_000.5 },
        { key: 'third', amount: 0, ...hour },
      ];
      expect(await another().addAll(amounts)).toEqual([2, 5, 0]);
      const adding = Array.from({ length: 50 }, () => store.addAll(amounts));
      const sums = (await Promise.all(adding)).map(([, second = 0]) => second);
      expect(sums.sort((a, b) => a - b)).toEqual(Array.from({ length: 50 }, (_, index) => 10 + 5 * index));
      expect([(await store.add('first', 0, hour)).sum, (await store.add('third', 0, hour)).sum]).toEqual([-48, 0]);
      await expect(store.addAll([{ key: 'first', amount: 0.5, ...hour }])).rejects.toThrow(RangeError);
    });

    it('creates a value once for 50 concurrent callers, who all get it', async () => {
      const { store, another } = await tStore();
      const clients = [store, another()] as const;
      const create = (_: unknown, index: number) =>
        getOrCreate(clients[index % 2] ?? store, 'essay', `essay ${index}`, hour);
      const values = new Set(await Promise.all(Array.from({ length: 50 }, create)));
      expect([...values]).toEqual([await another().get('essay')]);
      expect(await getOrCreate(store, 'another', '', hour)).toBe('');
      expect(await getOrCreate(store, 'another', 'late', hour)).toBe('');
    });

    it('deletes a value for every client, and no counter', async () => {
      const { store, another } = await tStore();
      await store.set('essay', '', hour);
      await store.add('essay', 2, hour);
      await another().delete('essay');
      expect(await store.get('essay')).toBeNull();
      expect((await store.add('essay', 0, hour)).sum).toBe(2);
      await store.delete('essay');
      await store.delete('missing');
      expect(await store.replace('essay', null, 'second', hour)).toBe(true);
      expect(await another().get('essay')).toBe('second');
    });

    it('stores any text under any key unchanged', async () => {
      const { store } = await tStore();
      const text = fc.string({ unit: anyCharacter, maxLength: 300 });
      const entries = fc.dictionary(text, text, { maxKeys: 20, noNullPrototype: true });
      await fc.assert(
        fc.asyncProperty(entries, async (entries) => {
          await Promise.all(Object.entries(entries).map(([key, value]) => store.set(key, value, hour)));
          const keys = Object.keys(entries);
          expect(await Promise.all(keys.map((key) => store.get(key)))).toEqual(Object.values(entries));
        }),
        { numRuns: rounds(10) },
      );
    });

    it('stores values of a megabyte, and keys of the maximum length', async () => {
      const { store } = await tStore();
      const essay = 'Zażółć gęślą jaźń. '.repeat(40_000);
      expect(Buffer.byteLength(essay)).toBeGreaterThan(1_000_000);
      const key = '€'.repeat(maxKeyLength);
      await store.set(key, essay, hour);
      expect(await store.get(key)).toBe(essay);
      expect((await store.add(key, 1, hour)).sum).toBe(1);
    });

    it('rejects keys, expiries and amounts outside the limits', async () => {
      const { store } = await tStore();
      const long = 'x'.repeat(maxKeyLength + 1);
      for (const call of [...callsOf(store, long), () => store.delete(long)])
        await expect(call()).rejects.toThrow(RangeError);
      for (const expiresInMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY]) {
        const [, ...writes] = callsOf(store, 'key', { expiresInMs });
        for (const write of writes) await expect(write()).rejects.toThrow(RangeError);
      }
      await expect(store.add('key', 0.5, hour)).rejects.toThrow(RangeError);
      expect((await store.add('key', 0, hour)).sum).toBe(0);
    });

    it('accepts fractions of a millisecond, which a jittered expiry has', async () => {
      const { store } = await tStore();
      await store.set('key', 'value', { expiresInMs: 60_000.25 });
      expect(await store.get('key')).toBe('value');
    });

    it('separates values and counters', async () => {
      const { store } = await tStore();
      await store.set('key', 'value', hour);
      expect((await store.add('key', 2, hour)).sum).toBe(2);
      expect(await store.get('key')).toBe('value');
      expect((await store.add('key', 0, hour)).sum).toBe(2);
    });

    describeExpiry(tStore);

    describe('counters', () => {
      it('return the sum of all amounts', async () => {
        const { store } = await tStore();
        const amounts = fc.array(fc.integer({ min: -1_000_000_000, max: 1_000_000_000 }), { maxLength: 10 });
        let round = 0;
        await fc.assert(
          fc.asyncProperty(amounts, async (amounts) => {
            const key = `calls-${round++}`;
            let sum = 0;
            for (const amount of amounts) {
              sum += amount;
              expect((await store.add(key, amount, hour)).sum).toBe(sum);
            }
            expect((await store.add(key, 0, hour)).sum).toBe(sum);
          }),
          { numRuns: rounds(10) },
        );
      });

      it('lose none of 1,000 concurrent adds by four clients, and return a different sum to each', async () => {
        const { store, another } = await tStore();
        const clients = [store, another(), another(), another()];
        const adds = clients.flatMap((client) => Array.from({ length: 250 }, () => client.add('calls', 1, hour)));
        const sums = (await Promise.all(adds)).map(({ sum }) => sum);
        expect(sums.sort((a, b) => a - b)).toEqual(Array.from({ length: 1_000 }, (_, index) => index + 1));
        expect((await store.add('calls', 0, hour)).sum).toBe(1_000);
      });
    });

    describeLostCounters(tStore);

    it('fails after it was closed, and can be closed twice', async () => {
      const { store } = await tStore();
      await store.close();
      await store.close();
      const calls = [...callsOf(store, 'key'), () => store.delete('key'), () => store.add('key', 0, hour)];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ name: 'StoreError', reason: 'closed' });
    });
  });
}

/** A reading call, and one of each kind that writes. */
export function callsOf(store: Store, key: string, expiry = hour) {
  return [
    () => store.get(key),
    () => store.set(key, '', expiry),
    () => store.replace(key, null, '', expiry),
    () => store.add(key, 1, expiry),
    () => store.addAll([{ key, amount: 1, ...expiry }]),
    () => store.replace('order', null, '', { ...expiry, also: [{ key, value: '' }] }),
  ];
}

/** Counters that the store has lost: a process that knows one has its id, and the store has another one, or none. */
function describeLostCounters(tStore: () => Promise<TStore>): void {
  describe('a lost counter', () => {
    const known = (sum: number) => ({ ...hour, known: { sum, id: 'of-the-lost-counter' } });

    it('is restored once for all processes, from the largest sum that any of them knew', async () => {
      const { store, another } = await tStore();
      await store.add('calls', 1, hour);
      expect(await store.add('calls', 2, known(100))).toMatchObject({ sum: 103, restored: 100 });
      expect(await another().add('calls', 4, known(100))).toMatchObject({ sum: 107, restored: 0 });
      expect(await another().add('calls', 0, known(110))).toMatchObject({ sum: 117, restored: 10 });
      expect(await store.add('calls', 0, known(90))).toMatchObject({ sum: 117, restored: 0 });
    });

    it('is restored by a read, too, and 50 concurrent processes add it back once', async () => {
      const { store, another } = await tStore();
      const clients = [store, another()];
      const adds = Array.from({ length: 50 }, (_, index) => clients[index % 2]?.add('calls', index % 2, known(1_000)));
      const restored = (await Promise.all(adds)).filter((count) => count?.restored !== 0);
      expect(restored).toMatchObject([{ restored: 1_000 }]);
      expect(await store.add('calls', 0, hour)).toMatchObject({ sum: 1_025, restored: 0 });
    });

    it('is restored again if it is lost again, and not while it is known', async () => {
      const { store, pass } = await tStore();
      const counted = await store.add('calls', 5, hour);
      expect(await store.add('calls', -2, { ...hour, known: counted })).toEqual({ ...counted, sum: 3, restored: 0 });
      expect(await store.add('calls', 0, { ...hour, known: counted })).toEqual({ ...counted, sum: 3, restored: 0 });
      for (const sum of [6, 12]) {
        await pass(hour.expiresInMs);
        const known = { ...counted, id: `lost-before-${sum}`, sum };
        expect(await store.add('calls', 1, { ...hour, known })).toMatchObject({ sum: sum + 1, restored: sum });
      }
    });

    it('is not restored by a process that has not found it', async () => {
      const { store } = await tStore();
      const missing = await store.add('calls', 0, hour);
      expect(missing).toEqual({ sum: 0, id: '', restored: 0 });
      const counted = await store.add('calls', 3, { ...hour, known: missing });
      expect(counted).toEqual({ sum: 3, id: expect.stringMatching(/./), restored: 0 });
      expect(await store.add('calls', 1, { ...hour, known: missing })).toEqual({ ...counted, sum: 4 });
    });
  });
}

/** The part of the store contract that concerns expiry. */
function describeExpiry(tStore: () => Promise<TStore>): void {
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

    it('lets a value be created again', async () => {
      const { store, another, pass } = await tStore();
      expect(await getOrCreate(store, 'essay', 'first', hour)).toBe('first');
      await pass(59 * minute);
      expect(await getOrCreate(another(), 'essay', 'second', hour)).toBe('first');
      await pass(minute);
      expect(await getOrCreate(store, 'essay', 'third', hour)).toBe('third');
      expect(await another().get('essay')).toBe('third');
    });

    it('of a counter is that of its first add', async () => {
      const { store, pass } = await tStore();
      expect((await store.add('calls', 1, hour)).sum).toBe(1);
      await pass(30 * minute);
      expect((await store.add('calls', 1, hour)).sum).toBe(2);
      await pass(29 * minute);
      expect((await store.add('calls', 1, hour)).sum).toBe(3);
      await pass(minute);
      expect((await store.add('calls', 0, hour)).sum).toBe(0);
      expect((await store.add('calls', 1, hour)).sum).toBe(1);
      await pass(59 * minute);
      expect((await store.add('calls', 1, hour)).sum).toBe(2);
    });
  });
}

/** Stops `Date` until the test ends. @returns a function that advances it */
export function tFakeDate(): (ms: number) => Promise<void> {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
  return async (ms) => void vi.advanceTimersByTime(ms);
}
