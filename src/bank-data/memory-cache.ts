import { LRUCache } from 'lru-cache';
import type { CacheStatus } from '../telemetry/metrics/gateway-metrics.ts';
import { AnswerTemplate, createAnswerTemplates } from './answer-templates.ts';
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
  const findTemplate = createAnswerTemplates(maxBanks);
  const entries = new LRUCache<string, KeptEntry>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer }, key) => bytesPerEntry + 2 * key.length + bytesOf(answer),
  });
  return {
    get(key) {
      const kept = entries.get(key);
      return kept && { ...kept, answer: restore(kept.answer, key) };
    },
    status: () => ({ entries: entries.size, bytes: entries.calculatedSize }),
    set(key, { answer, freshUntil, staleUntil, version }) {
      entries.set(key, { answer: findTemplate(key, answer) ?? answer, freshUntil, staleUntil, version });
    },
    clear: () => entries.clear(),
  };
}

type KeptEntry = Omit<CacheEntry, 'answer'> & { answer: CacheEntry['answer'] | AnswerTemplate };

function restore(answer: KeptEntry['answer'], key: string): CacheEntry['answer'] {
  return answer instanceof AnswerTemplate ? (answer.restore(key) as object as CacheEntry['answer']) : answer;
}

/** With a template for their answers. */
const maxBanks = 10_000;

/** Roughly, of a value as in JSON. Counting is faster than writing it as JSON. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return bytesPerText + value.length;
  if (typeof value !== 'object' || value === null) return bytesPerField;
  let bytes = bytesPerObject;
  for (const name in value) bytes += bytesOf(value[name as keyof typeof value]);
  return bytes;
}

/** Resident memory of an entry besides its key and its answer, as measured; its objects take half of it. */
const bytesPerEntry = 400;
const bytesPerObject = 40;
const bytesPerField = 8;
const bytesPerText = 24;
