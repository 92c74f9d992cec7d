import { LRUCache } from 'lru-cache';
import type { CacheStatus } from '../telemetry/metrics/gateway-metrics.ts';
import { AnswerTemplate, createAnswerTemplates } from './answer-templates.ts';

/** An answer with its times, in milliseconds since 1970. */
export interface TimedAnswer {
  answer: object;
  freshUntil: number;
  /** End of the time in which it may be served stale. */
  staleUntil: number;
}

/**
 * The entries of the look-up cache, by key, bounded in bytes: the least recently used ones are removed. What the answers about one
 * bank have in common is kept once.
 */
export function createLookUpTable(maxBytes: number) {
  const findTemplate = createAnswerTemplates(Math.ceil(Math.min(maxBanks, maxBytes / bytesPerBank)));
  const entries = new LRUCache<string, TimedAnswer>({
    maxSize: maxBytes,
    sizeCalculation: ({ answer }, key) => bytesPerEntry + 2 * key.length + bytesOf(answer),
  });

  return {
    get(key: string): TimedAnswer | null {
      const entry = entries.get(key);
      if (entry === undefined) return null;
      return entry.answer instanceof AnswerTemplate ? { ...entry, answer: entry.answer.restore(key) } : entry;
    },
    set(key: string, { answer, freshUntil, staleUntil }: TimedAnswer): void {
      entries.set(key, { answer: findTemplate(key, answer) ?? answer, freshUntil, staleUntil });
    },
    status: (): CacheStatus => ({ entries: entries.size, bytes: entries.calculatedSize }),
    clear: () => entries.clear(),
  };
}

/** At most this many templates; a small cache has fewer. They do not count towards its limit. */
const maxBanks = 10_000;
const bytesPerBank = 2_800;

/** Roughly, the memory of a value as in JSON. */
function bytesOf(value: unknown): number {
  if (typeof value === 'string') return bytesPerText + value.length;
  if (typeof value !== 'object' || value === null) return bytesPerField;
  let bytes = bytesPerObject;
  for (const name in value) bytes += bytesOf(value[name as keyof typeof value]);
  return bytes;
}

/** Resident memory of an entry besides its key and its answer, as measured. */
const bytesPerEntry = 200;
const bytesPerObject = 40;
const bytesPerField = 8;
const bytesPerText = 24;
