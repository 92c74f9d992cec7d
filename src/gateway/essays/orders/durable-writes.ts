import { type Store, StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';

/** Values by store key. */
type Entries = Readonly<Record<string, string>>;

interface DurableWritesOptions {
  store: Store;
  expiresInMs: number;
  events: Pick<Events, 'essayWriteBuffered' | 'essayLost'>;
}

export type DurableWrites = ReturnType<typeof createDurableWrites>;

/** Stores essays. Failed writes are buffered in memory and retried; only overflow, shutdown or a crash loses them. */
export function createDurableWrites({ store, expiresInMs, events }: DurableWritesOptions) {
  /** With their `firstKey`, oldest first. */
  const buffer = new Map<Entries, string | undefined>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  return {
    /** The buffered or the stored value. @throws StoreError */
    get: async (key: string): Promise<string | null> => getBuffered(key) ?? store.get(key),
    getBuffered,
    /**
     * Writes the entries of one essay. Resolves when they are stored or buffered; never rejects.
     * @param firstKey an entry that is not overwritten @returns the earlier value of `firstKey`; null if there was none
     */
    async write(entries: Entries, firstKey?: string): Promise<string | null> {
      try {
        return await writeAll(entries, firstKey);
      } catch (error) {
        const reason = error instanceof StoreError ? error.reason : 'unusable';
        if (buffer.size === 0) events.essayWriteBuffered(reason);
        buffer.set(entries, firstKey);
        const [oldest] = buffer.keys();
        if (buffer.size > maxBuffered && oldest && buffer.delete(oldest)) events.essayLost(reason);
        retryLater();
        return null;
      }
    },
    flush,
    /** Drops the buffered writes and reports each essay as lost. */
    discard(): void {
      clearTimeout(timer);
      for (const _ of buffer.keys()) events.essayLost('the store failed until shutdown');
      buffer.clear();
    },
  };

  function getBuffered(key: string): string | null {
    for (const entries of buffer.keys()) if (entries[key] !== undefined) return entries[key];
    return null;
  }

  async function writeAll(entries: Entries, firstKey: string | undefined): Promise<string | null> {
    // In parallel, to shorten the time in which a crash would lose one of the entries.
    const results = await Promise.all(
      Object.entries(entries).map(([key, value]) =>
        key === firstKey ? store.setIfAbsent(key, value, { expiresInMs }) : store.set(key, value, { expiresInMs }),
      ),
    );
    // Only `setIfAbsent` returns a text.
    const earlier = results.find((result) => typeof result === 'string') ?? null;
    // A failed write may have taken effect.
    return firstKey !== undefined && earlier === entries[firstKey] ? null : earlier;
  }

  function retryLater(): void {
    // Must not keep the process alive: shutdown calls `flush` and `discard`.
    timer ??= setTimeout(() => void flush(), retryMs).unref();
  }

  /** Retries the buffered writes once. One retry at a time, so that a write in flight is not reported as lost. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushing = flushing.then(retryAll);
    return flushing;
  }

  async function retryAll(): Promise<void> {
    for (const [entries, firstKey] of buffer) {
      try {
        if ((await writeAll(entries, firstKey)) !== null) events.essayLost(duplicateEssay);
        buffer.delete(entries);
      } catch {
        return retryLater();
      }
    }
  }
}

export const duplicateEssay = 'another process stored an essay of the same order first';

/** Number of essays, of about 15 kB each. */
const maxBuffered = 2_000;
const retryMs = 5_000;
