import type { CacheStatus } from '../telemetry/metrics/gateway-metrics.ts';
import { AnswerTemplate, createAnswerTemplates } from './answer-templates.ts';
import { PagedColumn, slotsFor } from './columns.ts';
import { createEntryTable } from './entry-table.ts';
import { createRecencyList } from './recency-list.ts';
import type { TimedAnswer } from './shared-cache.ts';
import { createSlotIndex } from './slot-index.ts';

/** A look-up that is running. */
interface Running {
  readonly key: string;
  /** Set by `begin`. A flight that replaces this one gets the same slot. */
  slot: number;
}

/** The look-ups of all keys: the running one, and the entry of the last one that was kept. */
export interface LookUpTable<Flight extends Running> {
  /** The entry becomes the most recently used one. */
  entryOf(key: string): TimedAnswer | null;
  flightOf(key: string): Flight | null;
  /** Replaces the flight of the same key. */
  begin(flight: Flight): void;
  /** False if another one has replaced it, or it has ended. */
  isCurrent(flight: Flight): boolean;
  /** Replaces the entry of its key, even a newer one. @param flight the current one of its key */
  keep(flight: Flight, entry: TimedAnswer): void;
  /** @param flight the current one of its key */
  end(flight: Flight): void;
  /** Of the entries. */
  status(): CacheStatus;
  /** Removes all entries. */
  clear(): void;
}

/**
 * Entries are bounded in bytes: the least recently used ones are removed. What the answers about one bank have in common is
 * kept once. A key has a slot while it has a flight or an entry.
 */
export function createLookUpTable<Flight extends Running>(maxBytes: number): LookUpTable<Flight> {
  const findTemplate = createAnswerTemplates(Math.ceil(Math.min(maxBanks, maxBytes / bytesPerBank)));
  const initialSlots = slotsFor(maxBytes / bytesPerEntry);
  const slots = createSlotIndex(initialSlots);
  const flights = new PagedColumn<Flight>();
  const entries = createEntryTable<TimedAnswer['answer'] | AnswerTemplate>(initialSlots);
  const recency = createRecencyList(initialSlots);
  let count = 0;
  let bytes = 0;

  return {
    entryOf(key) {
      const slot = slots.find(key);
      if (slot === -1 || entries.bytesAt(slot) === 0) return null;
      recency.remove(slot);
      recency.add(slot);
      const { freshUntil, staleUntil } = entries.timesAt(slot);
      return { answer: restore(entries.answerAt(slot), key), freshUntil, staleUntil };
    },
    flightOf(key) {
      const slot = slots.find(key);
      return slot === -1 ? null : flights.at(slot);
    },
    begin(flight) {
      flight.slot = slots.findOrAdd(flight.key);
      flights.set(flight.slot, flight);
    },
    isCurrent: (flight) => flights.at(flight.slot) === flight,
    keep({ key, slot }, entry) {
      if (entries.bytesAt(slot) > 0) removeEntry(slot);
      const answer = findTemplate(key, entry.answer) ?? entry.answer;
      const size = bytesPerEntry + 2 * key.length + bytesOf(answer);
      if (size > maxBytes) return;
      while (bytes + size > maxBytes) evict(recency.oldest());
      entries.set(slot, answer, entry, size);
      recency.add(slot);
      count += 1;
      bytes += size;
    },
    end({ slot }) {
      flights.set(slot, null);
      if (entries.bytesAt(slot) === 0) slots.delete(slot);
    },
    status: () => ({ entries: count, bytes }),
    clear() {
      while (count > 0) evict(recency.oldest());
    },
  };

  function evict(slot: number): void {
    removeEntry(slot);
    if (flights.at(slot) === null) slots.delete(slot);
  }

  function removeEntry(slot: number): void {
    bytes -= entries.bytesAt(slot);
    count -= 1;
    entries.delete(slot);
    recency.remove(slot);
  }
}

function restore(answer: TimedAnswer['answer'] | AnswerTemplate, key: string): TimedAnswer['answer'] {
  return answer instanceof AnswerTemplate ? (answer.restore(key) as object as TimedAnswer['answer']) : answer;
}

/** With a template for their answers; fewer in a small cache, of whose limit templates are no part. */
const maxBanks = 10_000;
const bytesPerBank = 2_800;

/** Roughly, of a value as in JSON. Counting is faster than writing it as JSON. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return bytesPerText + value.length;
  if (typeof value !== 'object' || value === null) return bytesPerField;
  let bytes = bytesPerObject;
  for (const name in value) bytes += bytesOf(value[name as keyof typeof value]);
  return bytes;
}

/** Resident memory of an entry besides its key and its answer, as measured; its columns take half of it. */
const bytesPerEntry = 200;
const bytesPerObject = 40;
const bytesPerField = 8;
const bytesPerText = 24;
