import { type Store, StoreError } from '../../stores/store.ts';

/** A store for what must not get lost while this process lives. */
export interface KeptTexts {
  /** @throws StoreError */
  get(key: string): Promise<string | null>;
  /** Resolves when it is stored; or when it could not be, and is held in memory until it can. Never rejects. */
  set(key: string, text: string): Promise<void>;
  /** Once what is held in memory was tried again. */
  settled(): Promise<void>;
}

interface KeptTextsOptions {
  store: Store;
  keptMs: number;
  /** Called when the store begins to fail. */
  onFailed: (reason: string) => void;
}

export function createKeptTexts({ store, keptMs, onFailed }: KeptTextsOptions): KeptTexts {
  const held = new Map<string, string>();
  let timer: NodeJS.Timeout | null = null;

  return {
    get: async (key) => held.get(key) ?? store.get(key),
    async set(key, text) {
      try {
        await store.set(key, text, { expiresInMs: keptMs });
      } catch (error) {
        if (held.size === 0) onFailed(error instanceof StoreError ? error.reason : 'unusable');
        hold(key, text);
      }
    },
    settled: tryAgain,
  };

  function hold(key: string, text: string): void {
    held.set(key, text);
    const [oldest] = held.keys();
    if (held.size > maxHeld && oldest !== undefined) held.delete(oldest);
    tryLater();
  }

  function tryLater(): void {
    // It does not keep the process alive: whoever ends it awaits `settled`.
    timer ??= setTimeout(() => void tryAgain(), retriedAfterMs).unref();
  }

  async function tryAgain(): Promise<void> {
    if (timer) clearTimeout(timer);
    timer = null;
    for (const [key, text] of held) {
      try {
        await store.set(key, text, { expiresInMs: keptMs });
        held.delete(key);
      } catch {
        return tryLater();
      }
    }
  }
}

/** An essay is some 15 kB. */
const maxHeld = 2_000;
const retriedAfterMs = 5_000;
