import { LRUCache } from 'lru-cache';
import type { CacheEntry } from './shared-cache.ts';

/** An answer as JSON, with its times, in milliseconds since 1970. */
export interface MemoryEntry {
  json: string;
  freshUntil: number;
  staleUntil: number;
}

export interface MemoryCache {
  get(key: string): MemoryEntry | undefined;
  /** Stores an entry, unless the present one is newer. */
  set(key: string, entry: CacheEntry): void;
  clear(): void;
}

/** Answers in memory, bounded in bytes. One string costs the garbage collector less than the objects of an answer. */
export function createMemoryCache(maxBytes: number): MemoryCache {
  const entries = new LRUCache<string, MemoryEntry>({
    maxSize: maxBytes,
    sizeCalculation: ({ json }, key) => bytesOf(json) + bytesOf(key) + bytesPerEntry,
  });
  return {
    get: (key) => entries.get(key),
    set(key, { answer, freshUntil, staleUntil }) {
      const present = entries.peek(key);
      if (present && present.freshUntil > freshUntil) return;
      entries.set(key, { json: JSON.stringify(answer), freshUntil, staleUntil });
    },
    clear: () => entries.clear(),
  };
}

/** V8 stores texts without characters beyond U+00FF in one byte each. */
function bytesOf(text: string): number {
  return hasWideCharacters.test(text) ? 2 * text.length : text.length;
}

const hasWideCharacters = /[^\0-\u00ff]/;

/** Memory of an entry besides its texts, roughly. */
const bytesPerEntry = 300;
