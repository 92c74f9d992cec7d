import { createHash } from 'node:crypto';
import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';

/** Persisted queries by the SHA-256 hash of their text. */
export interface PersistedQueries {
  get(hash: string): string | undefined;
  set(hash: string, query: string): void;
}

/**
 * Any client may add queries, so their total length is limited. A client sends a query again if it was evicted or the
 * client reaches another replica.
 */
export function createPersistedQueries(maxCharacters = 2_000_000): PersistedQueries {
  const queries = new LRUCache<string, string>({
    maxSize: maxCharacters,
    maxEntrySize: maxCharacters / 20,
    sizeCalculation: (query) => query.length + 100,
  });
  return { get: (hash) => queries.get(hash), set: (hash, query) => void queries.set(hash, query) };
}

/** Called with unvalidated queries: hashing other values than strings could take minutes, or store them as queries. */
export async function hashQuery(query: unknown): Promise<string> {
  if (typeof query === 'string') return createHash('sha256').update(query).digest('hex');
  throw new GraphQLError('Expected "query" param to be a string.', {
    extensions: { code: 'BAD_REQUEST', http: { status: 400 } },
  });
}
