import type { DocumentNode } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { CacheStatus } from '../telemetry/metrics/gateway-metrics.ts';

/** What was prepared for documents, bounded in bytes. */
export interface DocumentCache<Value> {
  get(key: string): Value | undefined;
  has(key: string): boolean;
  /** @returns a function to call when one of its operations was compiled, with the memory of the code in bytes */
  set(key: string, value: Value, document: DocumentNode): (bytes: number) => void;
  status(): CacheStatus;
}

export function createDocumentCache<Value>(): DocumentCache<Value> {
  const entries = new LRUCache<string, { value: Value; bytes: number }>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }) => bytes,
  });

  return {
    get: (key) => entries.get(key)?.value,
    has: (key) => entries.has(key),
    set(key, value, document) {
      const entry = { value, bytes: bytesOf(document) };
      entries.set(key, entry);
      return (bytes) => {
        if (entries.peek(key) !== entry) return;
        entries.delete(key);
        entry.bytes += bytes;
        entries.set(key, entry);
      };
    },
    status: () => ({ entries: entries.size, bytes: entries.calculatedSize }),
  };
}

const maxBytes = 12_500_000;

/** Of a parsed document, roughly. A variable that is not in its text takes as much as 20 characters. */
function bytesOf({ loc, definitions }: DocumentNode): number {
  const variables = definitions.flatMap((definition) =>
    'variableDefinitions' in definition ? (definition.variableDefinitions ?? []) : [],
  );
  return ((loc?.end ?? 0) + 20 * variables.length + 100) * bytesPerCharacter;
}

const bytesPerCharacter = 50;
