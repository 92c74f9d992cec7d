import { hash } from 'node:crypto';
import type { GraphQLError } from 'graphql';
import { LRUCache } from 'lru-cache';
import type { Signal } from '../../../base/async/signal.ts';
import { isObject, parseJson } from '../../../base/parse-json.ts';
import type { Caller } from '../../callers/caller.ts';
import type { Trace } from '../../trace.ts';
import { createRequestError } from '../documents/document-errors.ts';
import type { TrustedDocuments } from '../documents/trusted-documents.ts';
import { callHeaders, type Reply, type RequestedFormat } from './reply.ts';

/** The HTTP request with which GraphQL was asked. */
export interface GraphqlRequest extends RequestedFormat {
  /** GET, POST or QUERY. */
  method: string;
  /** Of the URL, without the question mark. */
  search: string;
  /** JSON, unless it is a GET request. */
  body: string;
  /** Aborts when the client disconnects. */
  signal: Signal;
  trace: Trace | null;
  /** Whether it accepts streams only. */
  isStreamOnly: boolean;
  /** Whether its credentials still identify its caller, who may still use the same. */
  confirmCaller(): Promise<boolean>;
}

export type AnswerGraphql = (request: GraphqlRequest, caller: Caller) => Reply | Promise<Reply>;

/** The parameters of a GraphQL request, and the text of its document. */
export interface Params {
  query: string;
  operationName?: string | null | undefined;
  variables?: Readonly<Record<string, unknown>> | null | undefined;
  extensions?: { persistedQuery?: { version?: unknown; sha256Hash?: unknown } | null } | null | undefined;
}

/** Persisted queries by the SHA-256 hash of their text, and trusted documents by their ids. */
export interface PersistedQueries {
  get(hash: string): string | undefined;
  set(hash: string, query: string): void;
}

/**
 * Any client may add queries, unless only trusted documents are executed, so their total length is limited. A client sends a query
 * again if it was evicted or the client reaches another replica.
 */
export function createPersistedQueries(trusted: TrustedDocuments | null, maxCharacters = 2_000_000): PersistedQueries {
  const registered = new LRUCache<string, string>({
    maxSize: maxCharacters,
    maxEntrySize: maxCharacters / 20,
    sizeCalculation: (query) => query.length + 100,
  });
  return {
    get: (hash) => trusted?.textOf(hash) ?? registered.get(hash),
    set(hash, query) {
      if (trusted?.mode !== 'require') registered.set(hash, query);
    },
  };
}

/**
 * The parameters in the body of an ordinary request: a query or the id of a known one, with an operation name and variables.
 * Unknown parameters are ignored. Null for others: Yoga reads them, registers queries, and describes what is wrong.
 */
export function readParams(body: string, persistedQueries: PersistedQueries): Params | null {
  const params = parseJson(body);
  if (!isObject(params)) return null;
  const { query, operationName, variables } = params;
  const extensions = withDocumentId(params);
  const isOrdinary =
    (query == null || typeof query === 'string') &&
    (operationName == null || typeof operationName === 'string') &&
    (variables == null || isObject(variables)) &&
    (extensions == null || isObject(extensions));
  if (!isOrdinary) return null;
  const text = findQuery(query ?? null, extensions?.persistedQuery, persistedQueries);
  return text === null ? null : { query: text, operationName, variables, extensions };
}

function findQuery(query: string | null, persisted: unknown, persistedQueries: PersistedQueries): string | null {
  if (persisted == null) return query;
  if (!isObject(persisted) || persisted.version !== 1 || typeof persisted.sha256Hash !== 'string') return null;
  const known = persistedQueries.get(persisted.sha256Hash) ?? null;
  return query === null || query === known ? known : null;
}

/**
 * The extensions of a request. Without a query, a `documentId` is the hash of a persisted query: clients send either. The id may
 * have the prefix `sha256:`.
 * https://github.com/graphql/graphql-over-http/pull/264
 */
export function withDocumentId({ query, documentId, extensions }: Readonly<Record<string, unknown>>): unknown {
  if (query != null || typeof documentId !== 'string') return extensions;
  const persistedQuery = { version: 1, sha256Hash: documentId.replace(/^sha256:/, '') };
  if (extensions == null) return { persistedQuery };
  // Other types are not valid. A persisted query of the client's own has priority.
  return isObject(extensions) ? { persistedQuery, ...extensions } : extensions;
}

/** Called with unvalidated queries: hashing other values than strings could take minutes, or store them as queries. */
export async function hashQuery(query: unknown): Promise<string> {
  if (typeof query === 'string') return hash('sha256', query);
  throw createRequestError('Expected "query" param to be a string.', 'BAD_REQUEST');
}

/** What a request says of its paid calls: they are quoted, or it names the most that it may make. */
export type AskedCalls = 'quote' | number | null;

/** By its headers. */
export function readPaidCalls(headers: RequestedFormat['headers'], { scopes }: Caller): AskedCalls | GraphQLError {
  const { [callHeaders.quote]: asked, [callHeaders.limit]: limit } = headers;
  if (asked === undefined && limit === undefined) return null;
  // Like the costs of a response, the answer shows whether an IBAN was looked up before.
  if (!scopes.has('cost')) {
    const message = 'The headers Paid-Calls and Paid-Calls-Max need the scope cost, which the caller does not have.';
    return createRequestError(message, 'FORBIDDEN');
  }
  if (asked !== undefined) {
    const message = 'The header Paid-Calls must have the value quote.';
    return asked === 'quote' ? asked : createRequestError(message, 'BAD_USER_INPUT');
  }
  if (/^\d{1,9}$/.test(String(limit))) return Number(limit);
  return createRequestError('The header Paid-Calls-Max must be a whole number, such as 10.', 'BAD_USER_INPUT');
}
