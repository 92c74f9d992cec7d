import { LRUCache } from 'lru-cache';

interface DocumentCache<Value> {
  get(source: string): Value | undefined;
  set(source: string, value: Value): void;
}

/**
 * Keeps what came of parsing, by source text. Yoga's own cache counts documents, and a large one takes as much memory
 * as a thousand small ones: here their characters count, each of which costs some 50 bytes once it is parsed.
 */
export function createDocumentCache<Value extends object>(maxCharacters = 500_000): DocumentCache<Value> {
  const cache = new LRUCache<string, Value>({
    maxSize: maxCharacters,
    sizeCalculation: (_, source) => source.length + 100,
  });
  return { get: (source) => cache.get(source), set: (source, value) => void cache.set(source, value) };
}
