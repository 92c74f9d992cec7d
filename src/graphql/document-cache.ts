import { LRUCache } from 'lru-cache';

interface DocumentCache<Value> {
  get(source: string): Value | undefined;
  set(source: string, value: Value): void;
}

/**
 * Caches parsed documents by source text. Limits characters, which take about 50 bytes each when parsed: Yoga's own
 * cache counts documents, and one large document takes as much memory as a thousand small ones.
 */
export function createDocumentCache<Value extends object>(maxCharacters = 500_000): DocumentCache<Value> {
  const cache = new LRUCache<string, Value>({
    maxSize: maxCharacters,
    sizeCalculation: (_, source) => source.length + 100,
  });
  return { get: (source) => cache.get(source), set: (source, value) => void cache.set(source, value) };
}
