import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { CacheStatus } from '../../telemetry/metrics/gateway-metrics.ts';

/** Counts further memory of an entry, in bytes. */
export type AddBytes = (bytes: number) => void;

/** What was prepared for documents, bounded in bytes. */
export function createDocumentCache<Value>() {
  const entries = new LRUCache<string, { value: Value; bytes: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
  });
  return {
    get: (key: string) => entries.get(key)?.value,
    has: (key: string) => entries.has(key),
    /** @returns a function to call when the entry has grown */
    set(key: string, value: Value, bytes: number): AddBytes {
      entries.set(key, { value, bytes });
      return (added) => {
        const entry = entries.peek(key);
        if (entry?.value === value) entries.set(key, { value, bytes: entry.bytes + added });
      };
    },
    status: (): CacheStatus => ({ entries: entries.size, bytes: entries.calculatedSize }),
  };
}

const maxBytes = 12_500_000;

/**
 * The memory of a parsed document, roughly: its nodes, its text and what was prepared for it.
 * @param addedVariables that are not in its text
 */
export function bytesOf({ tokenCount = 0, loc }: DocumentNode, addedVariables = 0): number {
  const ofText = tokenCount * bytesPerToken + (loc?.end ?? 0) * bytesPerCharacter;
  return ofText + addedVariables * bytesPerVariable + bytesPerDocument;
}

const bytesPerToken = 250;
const bytesPerCharacter = 10;
/** Declared and used. */
const bytesPerVariable = 1_000;
const bytesPerDocument = 3_000;
