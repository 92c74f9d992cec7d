import { LRUCache } from 'lru-cache';
import type { CacheStatus } from '../telemetry/metrics/gateway-metrics.ts';
import { AnswerTemplate, createAnswerTemplates } from './answer-templates.ts';
import { createEntryTable } from './entry-table.ts';
import type { CacheEntry } from './shared-cache.ts';

export interface MemoryCache {
  get(key: string): CacheEntry | undefined;
  /** Replaces the present entry, even a newer one. */
  set(key: string, entry: CacheEntry): void;
  status(): CacheStatus;
  clear(): void;
}

/** Answers in memory, bounded in bytes. What the answers about one bank have in common is kept once. */
export function createMemoryCache(maxBytes: number): MemoryCache {
  const findTemplate = createAnswerTemplates(Math.ceil(Math.min(maxBanks, maxBytes / bytesPerBank)));
  const table = createEntryTable<CacheEntry['answer'] | AnswerTemplate>();
  const slots = new LRUCache<string, number>({ maxSize: maxBytes, dispose: table.delete });
  return {
    get(key) {
      const slot = slots.get(key);
      if (slot === undefined) return undefined;
      const { freshUntil, staleUntil, version } = table.timesAt(slot);
      return { answer: restore(table.answerAt(slot), key), freshUntil, staleUntil, version };
    },
    status: () => ({ entries: slots.size, bytes: slots.calculatedSize }),
    set(key, entry) {
      const answer = findTemplate(key, entry.answer) ?? entry.answer;
      const size = bytesPerEntry + 2 * key.length + bytesOf(answer);
      // Otherwise its slot would not be used again.
      if (size > maxBytes) slots.delete(key);
      else slots.set(key, table.add(answer, entry), { size });
    },
    clear: () => slots.clear(),
  };
}

function restore(answer: CacheEntry['answer'] | AnswerTemplate, key: string): CacheEntry['answer'] {
  return answer instanceof AnswerTemplate ? (answer.restore(key) as object as CacheEntry['answer']) : answer;
}

/** With a template for their answers; fewer in a small cache, of whose limit templates are no part. */
const maxBanks = 10_000;
const bytesPerBank = 2_800;

/** Roughly, of a value as in JSON. Counting is faster than writing it as JSON. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return bytesPerText + value.length;
  if (typeof value !== 'object' || value === null) return bytesPerField;
  let bytes = bytesPerObject;
  for (const name in value) bytes += bytesOf(value[name as keyof typeof value]);
  return bytes;
}

/** Resident memory of an entry besides its key and its answer, as measured; its objects and columns take half of it. */
const bytesPerEntry = 400;
const bytesPerObject = 40;
const bytesPerField = 8;
const bytesPerText = 24;
