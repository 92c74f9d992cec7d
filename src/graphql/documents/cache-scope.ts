import { type DocumentNode, type GraphQLNamedType, type GraphQLSchema, getNamedType, Kind } from 'graphql';
import { findField } from './schema-costs.ts';
import { forEachSelectionSet } from './selection-sets.ts';

/** Which caches may store a response: all, only private ones, or none. */
export type CacheScope = 'public' | 'private' | 'none';

const scopesFromWidest: readonly CacheScope[] = ['public', 'private', 'none'];

/**
 * The narrowest cache scope of all types in a document. A type declares the scope of its own and its scalar fields in
 * `extensions.cacheScope`. Mutations, and query fields whose type declares no scope, are not cached.
 */
export function findCacheScope(document: DocumentNode, schema: GraphQLSchema): CacheScope {
  const [query, mutation] = [schema.getQueryType(), schema.getMutationType()];
  const found = new Set<CacheScope | undefined>();
  forEachSelectionSet(schema, document, ({ selections }, type) => {
    found.add(type === mutation ? 'none' : scopeOf(type));
    if (type !== query) return;
    for (const selection of selections) {
      // The scope of entities comes from the fragments on them; `__typename` needs none.
      if (selection.kind !== Kind.FIELD || ['_entities', '__typename'].includes(selection.name.value)) continue;
      const field = findField(schema, type?.name ?? '', selection.name.value);
      found.add(scopeOf(getNamedType(field?.type)) ?? 'none');
    }
  });
  return scopesFromWidest.findLast((scope) => found.has(scope)) ?? 'none';
}

function scopeOf(type: GraphQLNamedType | undefined): CacheScope | undefined {
  return scopesFromWidest.find((scope) => scope === type?.extensions.cacheScope);
}
