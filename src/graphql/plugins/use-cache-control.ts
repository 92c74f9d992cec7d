import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { RequestContext } from '../../request-context.ts';
import { type CacheScope, findCacheScope } from '../cache-scope.ts';

/**
 * Sets `Cache-Control` for routers and browsers: a response may be cached while all values in it are fresh, privately
 * if it contains an IBAN. Responses with errors or stale values are not cached.
 * @param extensionHeaders request headers that add extensions to a response; it is not cached either
 */
export function useCacheControl(extensionHeaders: readonly string[]): Plugin<{ requestContext: RequestContext }> {
  const scopes = new WeakMap<DocumentNode, CacheScope>();
  const policies = new WeakMap<Request, string>();

  return {
    onExecute({ args: { document, schema, contextValue } }) {
      const { request, requestContext } = contextValue;
      if (extensionHeaders.some((header) => request.headers.has(header))) return;
      const scope = scopeFor(document, schema);
      if (scope === 'none') return;
      return {
        onExecuteDone({ result }) {
          if (Symbol.asyncIterator in result || result.errors !== undefined) return;
          const freshS = Math.floor((requestContext.freshUntil - Date.now()) / 1_000);
          if (freshS > 0) policies.set(request, `${scope}, max-age=${Math.min(freshS, maxAgeS)}`);
        },
      };
    },
    onResponse({ request, response }) {
      response.headers.set('cache-control', policies.get(request) ?? 'no-store');
      if (extensionHeaders.length > 0) response.headers.set('vary', extensionHeaders.join(', '));
    },
  };

  /** Reads each document once; the document cache returns the same object for the same text. */
  function scopeFor(document: DocumentNode, schema: GraphQLSchema): CacheScope {
    const known = scopes.get(document) ?? findCacheScope(document, schema);
    scopes.set(document, known);
    return known;
  }
}

/** Also the time to live of computed values, which change only with a release. */
const maxAgeS = 86_400;
