import { type Store, StoreError } from '../../stores/store.ts';

/** A counter in a store that counts on in memory while the store fails. None of its functions rejects. */
export interface StoredCount {
  /** Counts one more, and waits until the store has it. @returns its number, from 1 */
  add(): Promise<number>;
  /** Counts one less, and does not wait. A crash before the store has it leaves one too many, never one too few. */
  takeBack(): void;
  /** All that was counted, as far as is known here. */
  known(): number;
  /** The same, once the store has everything that was counted here, and was asked what others have counted. */
  read(): Promise<number>;
}

interface StoredCountOptions {
  store: Store;
  key: string;
  keptMs: number;
  onFailed: (reason: string) => void;
  /** The store works: at first, or again. By how much the count jumped with that: what others had counted meanwhile. */
  onWorks: (jump: number) => void;
}

/**
 * One write is under way at a time, and whatever is counted meanwhile goes with the next one: a durable write costs a
 * visit to the disk or to Redis, and under load that is shared by all who wait for it.
 */
export function createStoredCount({ store, key, keptMs, onFailed, onWorks }: StoredCountOptions): StoredCount {
  /** What the store said last. */
  let stored = 0;
  /** Counted here, and neither in the store nor on its way there. */
  let unsaved = 0;
  let underWay = 0;
  let works = false;
  let waiting: ((number: number) => void)[] = [];
  let lastWrite = Promise.resolve();
  let nextWrite: Promise<void> | null = null;

  return {
    add: () =>
      new Promise((resolve) => {
        waiting.push(resolve);
        void save();
      }),
    takeBack() {
      unsaved -= 1;
      void save();
    },
    known,
    read: () => save().then(known),
  };

  function known(): number {
    return stored + unsaved + underWay + waiting.length;
  }

  function save(): Promise<void> {
    if (nextWrite) return nextWrite;
    nextWrite = lastWrite.then(write);
    lastWrite = nextWrite;
    return nextWrite;
  }

  async function write(): Promise<void> {
    nextWrite = null;
    const batch = waiting;
    waiting = [];
    underWay = unsaved + batch.length;
    unsaved = 0;
    try {
      const sum = await store.add(key, underWay, { expiresInMs: keptMs });
      const jump = sum - stored - underWay;
      stored = sum;
      underWay = 0;
      if (!works) onWorks(jump);
      works = true;
    } catch (error) {
      // It may have been added all the same: then it is added twice, and the count runs ahead rather than behind.
      unsaved += underWay;
      underWay = 0;
      works = false;
      onFailed(error instanceof StoreError ? error.reason : 'unusable');
    }
    const last = known() - waiting.length;
    for (const [index, resolve] of batch.entries()) resolve(last - batch.length + index + 1);
  }
}
