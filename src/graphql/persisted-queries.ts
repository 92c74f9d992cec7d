import type { APQStore } from '@graphql-yoga/plugin-apq';
import { LRUCache } from 'lru-cache';

/**
 * Queries by the SHA-256 hash of their text, which clients then send instead. Whoever asks may add to them, so
 * their characters are bounded; a client whose query was dropped, or that meets another replica, sends it once more.
 */
export function createPersistedQueries(maxCharacters = 2_000_000): APQStore {
  const queries = new LRUCache<string, string>({
    maxSize: maxCharacters,
    maxEntrySize: maxCharacters / 20,
    sizeCalculation: (query) => query.length + 100,
  });
  return { get: (hash) => queries.get(hash), set: (hash, query) => void queries.set(hash, query) };
}
