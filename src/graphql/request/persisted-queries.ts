import { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import { hashText, type TrustedDocuments } from '../../documents/trusted-documents.ts';
import type { Events } from '../../telemetry/events.ts';
import { rejectDocument } from '../documents/document.ts';
import type { PrepareDocument } from '../documents/documents.ts';

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

/**
 * The extensions of a request without a query, in which a `documentId` is the hash of a persisted query: clients send either. The
 * id may have the prefix `sha256:`.
 * https://github.com/graphql/graphql-over-http/pull/264
 */
export function withDocumentId({ documentId, extensions }: { documentId?: unknown; extensions?: unknown }): unknown {
  if (typeof documentId !== 'string') return extensions;
  const persistedQuery = { version: 1, sha256Hash: documentId.replace(/^sha256:/, '') };
  if (extensions == null) return { persistedQuery };
  // Other types are not valid. A persisted query of the client's own has priority.
  return typeof extensions === 'object' && !Array.isArray(extensions) ? { persistedQuery, ...extensions } : extensions;
}

/** Called with unvalidated queries: hashing other values than strings could take minutes, or store them as queries. */
export async function hashQuery(query: unknown): Promise<string> {
  if (typeof query === 'string') return hashText(query);
  throw new GraphQLError('Expected "query" param to be a string.', {
    extensions: { code: 'BAD_REQUEST', http: { status: 400 } },
  });
}

/** Trusted documents by their ids, and queries that clients have registered where that is permitted. */
export function withTrustedQueries(registered: PersistedQueries, trusted: TrustedDocuments): PersistedQueries {
  return {
    get: (hash) => trusted.textOf(hash) ?? registered.get(hash),
    set(hash, query) {
      if (trusted.mode !== 'require') registered.set(hash, query);
    },
  };
}

/** Refuses documents that are not trusted, before they are parsed, or logs them; marks the trusted ones. */
export function withTrustedDocuments(
  prepare: PrepareDocument,
  trusted: TrustedDocuments,
  events: Pick<Events, 'untrustedDocument'>,
): PrepareDocument {
  return (text) => {
    const isTrusted = trusted.has(text);
    if (!isTrusted && trusted.mode === 'require') {
      const message = 'This document is not trusted: the gateway executes only those of its operator.';
      return rejectDocument(null, [new GraphQLError(message)], 'QUERY_NOT_IN_SAFELIST');
    }
    const prepared = prepare(text);
    if (isTrusted) prepared.trust.trustedId ??= hashText(text);
    else prepared.trust.trustedId = null;
    if (!isTrusted && prepared.document !== null && trusted.mode === 'log') events.untrustedDocument();
    return prepared;
  };
}
