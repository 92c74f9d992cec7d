import type { DocumentNode, GraphQLSchema } from 'graphql';
import type { Plugin } from 'graphql-yoga';
import type { RequestContext } from '../../request-context.ts';
import { type CacheScope, readCacheScope } from '../cache-scope.ts';
import { costHeader } from './use-cost.ts';
import { traceHeader } from './use-inline-trace.ts';

interface CacheControlOptions {
  /** How long an answer may be kept at most, in seconds: what is computed changes with a new version only. */
  maxAgeS?: number;
}

/** Request headers that an answer depends on, besides those that the door looks at. */
const varying = [costHeader, traceHeader];

/**
 * Tells routers and browsers in `Cache-Control` how long they may keep an answer: while all in it is fresh, and where
 * it holds an IBAN, for this caller only. Failures, stale answers and what tells of its own making are not kept.
 */
export function useCacheControl({
  maxAgeS = 86_400,
}: CacheControlOptions = {}): Plugin<{ requestContext: RequestContext }> {
  const scopes = new WeakMap<DocumentNode, CacheScope>();
  const policies = new WeakMap<Request, string>();

  return {
    onExecute({ args: { document, schema, contextValue } }) {
      const { request, requestContext } = contextValue;
      if (request.headers.has(costHeader) || request.headers.has(traceHeader)) return;
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
      response.headers.set('vary', varying.join(', '));
    },
  };

  /** Reads each document once: those that are asked again come from the document cache. */
  function scopeFor(document: DocumentNode, schema: GraphQLSchema): CacheScope {
    const known = scopes.get(document) ?? readCacheScope(document, schema);
    scopes.set(document, known);
    return known;
  }
}
