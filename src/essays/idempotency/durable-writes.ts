import { type Store, StoreError } from '../../stores/store.ts';
import type { Events } from '../../telemetry/events.ts';

/** Stores essays. Failed writes are buffered in memory and retried; only overflow, shutdown or a crash loses them. */
export interface DurableWrites {
  /** The buffered or the stored value. @throws StoreError */
  get(key: string): Promise<string | null>;
  getBuffered(key: string): string | null;
  /** Writes the entries of one essay. Resolves when they are stored or buffered; never rejects. */
  write(entries: Entries): Promise<void>;
  /** Retries the buffered writes once. */
  flush(): Promise<void>;
  /** Drops the buffered writes and reports each essay as lost. */
  discard(): void;
}

/** Values by store key. */
type Entries = Readonly<Record<string, string>>;

interface DurableWritesOptions {
  store: Store;
  expiresInMs: number;
  events: Pick<Events, 'essayWriteBuffered' | 'essayLost'>;
}

export function createDurableWrites({ store, expiresInMs, events }: DurableWritesOptions): DurableWrites {
  /** Oldest first. */
  const buffer = new Set<Entries>();
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> = Promise.resolve();

  return {
    get: async (key) => getBuffered(key) ?? store.get(key),
    getBuffered,
    async write(entries) {
      try {
        await writeAll(entries);
      } catch (error) {
        const reason = error instanceof StoreError ? error.reason : 'unusable';
        if (buffer.size === 0) events.essayWriteBuffered(reason);
        addToBuffer(entries, reason);
      }
    },
    flush,
    discard() {
      clearTimeout(timer);
      for (const _ of buffer) events.essayLost('the store failed until shutdown');
      buffer.clear();
    },
  };

  function getBuffered(key: string): string | null {
    for (const entries of buffer) if (entries[key] !== undefined) return entries[key];
    return null;
  }

  async function writeAll(entries: Entries): Promise<void> {
    // In parallel, to shorten the time in which a crash would lose one of the entries.
    await Promise.all(Object.entries(entries).map(([key, value]) => store.set(key, value, { expiresInMs })));
  }

  function addToBuffer(entries: Entries, reason: string): void {
    buffer.add(entries);
    const [oldest] = buffer;
    if (buffer.size > maxBuffered && oldest) {
      buffer.delete(oldest);
      events.essayLost(reason);
    }
    retryLater();
  }

  function retryLater(): void {
    // Must not keep the process alive: shutdown calls `flush` and `discard`.
    timer ??= setTimeout(() => void flush(), retryMs).unref();
  }

  /** One at a time, so that a write that is still in flight is not reported as lost. */
  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    flushing = flushing.then(retryAll);
    return flushing;
  }

  async function retryAll(): Promise<void> {
    for (const entries of buffer) {
      try {
        await writeAll(entries);
        buffer.delete(entries);
      } catch {
        return retryLater();
      }
    }
  }
}

/** Number of essays, of about 15 kB each. */
const maxBuffered = 2_000;
const retryMs = 5_000;
