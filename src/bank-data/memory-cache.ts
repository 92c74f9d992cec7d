import { LRUCache } from 'lru-cache';
import type { CacheStatus } from '../telemetry/metrics/gateway-metrics.ts';
import type { CacheEntry } from './shared-cache.ts';

export interface MemoryCache {
  get(key: string): CacheEntry | undefined;
  /** Replaces the present entry, even a newer one. */
  set(key: string, entry: CacheEntry): void;
  status(): CacheStatus;
  clear(): void;
}

/** Answers in memory, bounded in bytes. */
export function createMemoryCache(maxBytes: number): MemoryCache {
  const entries = new LRUCache<string, CacheEntry>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer }, key) => bytesPerEntry + 2 * key.length + bytesOf(answer),
  });
  return {
    get: (key) => entries.get(key),
    status: () => ({ entries: entries.size, bytes: entries.calculatedSize }),
    set: (key, entry) => void entries.set(key, entry),
    clear: () => entries.clear(),
  };
}

/** Roughly, of a value as in JSON. Counting is faster than writing it as JSON. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return bytesPerText + value.length;
  if (typeof value !== 'object' || value === null) return bytesPerField;
  let bytes = bytesPerObject;
  for (const name in value) bytes += bytesOf(value[name as keyof typeof value]);
  return bytes;
}

/** Memory of an entry besides its key and its answer. */
const bytesPerEntry = 300;
const bytesPerObject = 40;
const bytesPerField = 8;
const bytesPerText = 24;
