import { grow, PagedColumn } from './columns.ts';
import type { TimedAnswer } from './shared-cache.ts';

/**
 * The values of entries in columns, by slot: the garbage collector would copy and mark an object per entry, and one per time.
 */
export interface EntryTable<Answer> {
  /** @param bytes of the entry, more than 0 */
  set(slot: number, answer: Answer, times: EntryTimes, bytes: number): void;
  /** 0: the slot has no entry. */
  bytesAt(slot: number): number;
  /** Of a slot that has an entry. */
  answerAt(slot: number): Answer;
  timesAt(slot: number): EntryTimes;
  delete(slot: number): void;
}

type EntryTimes = Omit<TimedAnswer, 'answer'>;

/** @param slots for which there is room at first */
export function createEntryTable<Answer>(slots: number): EntryTable<Answer> {
  const answers = new PagedColumn<Answer>();
  /** Three per slot: the end of its fresh time, that of its stale time, and its bytes. */
  let numbers = new Float64Array(3 * slots);

  return {
    set(slot, answer, times, bytes) {
      const first = 3 * slot;
      if (first >= numbers.length) numbers = grow(numbers, first + 3);
      answers.set(slot, answer);
      numbers[first] = times.freshUntil;
      numbers[first + 1] = times.staleUntil;
      numbers[first + 2] = bytes;
    },
    bytesAt: (slot) => numbers[3 * slot + 2] ?? 0,
    answerAt: (slot) => answers.at(slot) as Answer,
    timesAt: (slot) => ({ freshUntil: numbers[3 * slot] ?? 0, staleUntil: numbers[3 * slot + 1] ?? 0 }),
    delete(slot) {
      answers.set(slot, null);
      numbers[3 * slot + 2] = 0;
    },
  };
}
