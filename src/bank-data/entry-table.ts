import type { CacheEntry } from './shared-cache.ts';

/**
 * The values of entries in columns, by slot: the garbage collector would copy and mark an object per entry, and one per time.
 * Slots are used again.
 */
export interface EntryTable<Answer> {
  /** @returns its slot */
  add(answer: Answer, times: EntryTimes): number;
  answerAt(slot: number): Answer;
  timesAt(slot: number): EntryTimes;
  delete(slot: number): void;
}

type EntryTimes = Omit<CacheEntry, 'answer'>;

export function createEntryTable<Answer>(): EntryTable<Answer> {
  const answers: (Answer | null)[] = [];
  const versions: (string | null)[] = [];
  let freshUntil = new Float64Array(firstSlots);
  let staleUntil = new Float64Array(firstSlots);
  const free: number[] = [];

  return {
    add(answer, times) {
      const slot = free.pop() ?? answers.length;
      if (slot === freshUntil.length) {
        freshUntil = grow(freshUntil);
        staleUntil = grow(staleUntil);
      }
      answers[slot] = answer;
      versions[slot] = times.version;
      freshUntil[slot] = times.freshUntil;
      staleUntil[slot] = times.staleUntil;
      return slot;
    },
    answerAt: (slot) => answers[slot] as Answer,
    timesAt: (slot) => ({
      freshUntil: freshUntil[slot] ?? 0,
      staleUntil: staleUntil[slot] ?? 0,
      version: versions[slot] ?? null,
    }),
    delete(slot) {
      answers[slot] = null;
      free.push(slot);
    },
  };
}

function grow(column: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * column.length);
  larger.set(column);
  return larger;
}

const firstSlots = 1_024;
