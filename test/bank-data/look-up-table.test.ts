import fc from 'fast-check';
import { LRUCache } from 'lru-cache';
import { expect, it } from 'vitest';
import { createLookUpTable } from '../../src/bank-data/look-up-table.ts';

interface Flight {
  key: string;
  slot: number;
}

const tFlight = (key: string): Flight => ({ key, slot: -1 });
const tEntry = (text: string) => ({
  answer: { text },
  freshUntil: text.length,
  staleUntil: 2 * text.length,
});

function tTable(maxBytes = 10_000) {
  const table = createLookUpTable<Flight>(maxBytes);
  const keep = (key: string, text: string) => {
    const flight = tFlight(key);
    table.begin(flight);
    table.keep(flight, tEntry(text));
    table.end(flight);
  };
  return { table, keep };
}

it('has the entries and the flights of keys', () => {
  const { table, keep } = tTable();
  expect(table.entryOf('a')).toBeNull();
  expect(table.flightOf('a')).toBeNull();

  keep('a', 'kept');
  expect(table.entryOf('a')).toEqual(tEntry('kept'));
  expect(table.flightOf('a')).toBeNull();

  const flight = tFlight('a');
  table.begin(flight);
  expect(table.entryOf('a')).toEqual(tEntry('kept'));
  expect(table.flightOf('a')).toBe(flight);

  table.keep(flight, tEntry('new'));
  table.end(flight);
  expect(table.entryOf('a')).toEqual(tEntry('new'));
  expect(table.flightOf('a')).toBeNull();
  expect(table.status().entries).toBe(1);
});

it('forgets a flight that has ended without an answer, also if another key gets its slot', () => {
  const { table } = tTable();
  const [failed, other] = [tFlight('a'), tFlight('b')];
  table.begin(failed);
  table.end(failed);
  expect(table.flightOf('a')).toBeNull();
  expect(table.isCurrent(failed)).toBe(false);
  table.begin(other);
  expect(other.slot).toBe(failed.slot);
  expect(table.isCurrent(failed)).toBe(false);
  expect(table.isCurrent(other)).toBe(true);
});

it('replaces a flight by a later one of the same key', () => {
  const { table } = tTable();
  const [first, second] = [tFlight('a'), tFlight('a')];
  table.begin(first);
  table.begin(second);
  expect(table.flightOf('a')).toBe(second);
  expect(table.isCurrent(first)).toBe(false);
  expect(table.isCurrent(second)).toBe(true);
});

it('removes the entry that was used the longest time ago', () => {
  const { table: larger, keep: keepInLarger } = tTable();
  for (const key of 'abc') keepInLarger(key, 'x');
  const maxBytes = larger.status().bytes;

  const { table, keep } = tTable(maxBytes);
  for (const key of 'abc') keep(key, 'x');
  table.entryOf('a');
  keep('d', 'x');
  expect([...'abcd'].map((key) => table.entryOf(key) !== null)).toEqual([true, false, true, true]);
  expect(table.status().bytes).toBe(maxBytes);
});

it('keeps no entry that is larger than its limit, nor the one that it would replace', () => {
  const { table, keep } = tTable();
  for (const key of 'abc') keep(key, 'x');
  keep('b', 'x'.repeat(20_000));
  expect([...'abc'].map((key) => table.entryOf(key) !== null)).toEqual([true, false, true]);
});

it('keeps one flight per key in a cache without room', () => {
  const { table } = tTable(1);
  const flights = Array.from({ length: 100 }, (_, serial) => tFlight(`k${serial}`));
  for (const flight of flights) table.begin(flight);
  for (const flight of flights) {
    expect(table.flightOf(flight.key)).toBe(flight);
    table.keep(flight, tEntry('x'));
    table.end(flight);
    expect(table.flightOf(flight.key)).toBeNull();
  }
  expect(table.status()).toEqual({ entries: 0, bytes: 0 });
});

it('keeps the answer of a flight that began after many others', () => {
  const { table } = tTable(1e7);
  const flights = Array.from({ length: 10_000 }, (_, serial) => tFlight(`k${serial}`));
  for (const flight of flights) table.begin(flight);
  for (const flight of flights.toReversed()) {
    table.keep(flight, tEntry(flight.key));
    table.end(flight);
  }
  for (const { key } of flights) expect(table.entryOf(key)).toEqual(tEntry(key));
});

it('removes all entries, but no flight', () => {
  const { table, keep } = tTable();
  for (const key of 'abc') keep(key, 'x');
  const flight = tFlight('b');
  table.begin(flight);
  table.clear();
  expect(table.status()).toEqual({ entries: 0, bytes: 0 });
  expect([...'abc'].map((key) => table.entryOf(key))).toEqual([null, null, null]);
  expect(table.flightOf('b')).toBe(flight);
  table.keep(flight, tEntry('new'));
  table.end(flight);
  expect(table.entryOf('b')).toEqual(tEntry('new'));
});

it('has the same entries as an LRU cache, and the same flights as a Map', () => {
  const step = fc.record({
    kind: fc.constantFrom('begin', 'begin', 'keep', 'keep', 'end', 'find', 'clear'),
    key: fc.constantFrom(...'abcdef'),
    length: fc.oneof(fc.nat(60), fc.constant(1_000)),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const { table } = tTable(1_000);
      const entries = new LRUCache<string, ReturnType<typeof tEntry>>({ maxSize: 1_000 });
      const flights = new Map<string, Flight>();
      const formerFlights: Flight[] = [];
      for (const { kind, key, length } of steps) {
        const flight = flights.get(key);
        if (kind === 'begin') {
          const started = tFlight(key);
          table.begin(started);
          flights.set(key, started);
          if (flight) formerFlights.push(flight);
        } else if (kind === 'keep' && flight) {
          const entry = tEntry('x'.repeat(length));
          table.keep(flight, entry);
          if (sizeOf(key, entry) > 1_000) entries.delete(key);
          else entries.set(key, entry, { size: sizeOf(key, entry) });
        } else if (kind === 'end' && flight) {
          table.end(flight);
          flights.delete(key);
          formerFlights.push(flight);
        } else if (kind === 'clear') {
          table.clear();
          entries.clear();
        } else if (kind === 'find') expect(table.entryOf(key)).toEqual(entries.get(key) ?? null);
        expect(table.status()).toEqual({ entries: entries.size, bytes: entries.calculatedSize });
        for (const key of 'abcdef') expect(table.flightOf(key)).toBe(flights.get(key) ?? null);
        for (const flight of flights.values()) expect(table.isCurrent(flight)).toBe(true);
        for (const flight of formerFlights) expect(table.isCurrent(flight)).toBe(false);
      }
      for (const key of 'abcdef') expect(table.entryOf(key)).toEqual(entries.get(key) ?? null);
    }),
  );
});

function sizeOf(key: string, { answer }: ReturnType<typeof tEntry>): number {
  const { table, keep } = tTable();
  keep(key, answer.text);
  return table.status().bytes;
}
