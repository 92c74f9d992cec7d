import { createHash } from 'node:crypto';
import type { APQStore } from '@graphql-yoga/plugin-apq';
import { GraphQLError } from 'graphql';
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

/**
 * The hash that a query goes by. The query comes as the client sent it, before anybody has looked at it: what is no
 * text must neither be hashed, which may take minutes, nor be kept under the hash of a text.
 */
export async function hashQuery(query: unknown): Promise<string> {
  if (typeof query === 'string') return createHash('sha256').update(query).digest('hex');
  throw new GraphQLError('Expected "query" param to be a string.', {
    extensions: { code: 'BAD_REQUEST', http: { status: 400 } },
  });
}
