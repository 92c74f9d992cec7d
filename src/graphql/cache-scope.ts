import { type DocumentNode, type GraphQLSchema, getNamedType, TypeInfo, visit, visitWithTypeInfo } from 'graphql';

/** Which caches may store a response: all, only private ones, or none. */
export type CacheScope = 'public' | 'private' | 'none';

const scopesFromWidest: readonly CacheScope[] = ['public', 'private', 'none'];

/**
 * The narrowest cache scope of all types in a document. A type declares the scope of its own and its scalar fields in
 * `extensions.cacheScope`. Mutations, and query fields whose type declares no scope, are not cached.
 */
export function findCacheScope(document: DocumentNode, schema: GraphQLSchema): CacheScope {
  const typeInfo = new TypeInfo(schema);
  const found = new Set<CacheScope | undefined>();
  const visitor = {
    Field(field: { name: { value: string } }) {
      // The scope of entities comes from the fragments on them; `__typename` needs none.
      if (['_entities', '__typename'].includes(field.name.value)) return;
      const parent = typeInfo.getParentType();
      if (parent === schema.getMutationType()) found.add('none');
      if (parent === schema.getQueryType()) found.add(scopeOf(getNamedType(typeInfo.getType())) ?? 'none');
    },
    SelectionSet() {
      found.add(scopeOf(typeInfo.getParentType()));
    },
  };
  visit(document, visitWithTypeInfo(typeInfo, visitor));
  return scopesFromWidest.findLast((scope) => found.has(scope)) ?? 'none';
}

function scopeOf(type: { extensions: { cacheScope?: unknown } } | null | undefined): CacheScope | undefined {
  return scopesFromWidest.find((scope) => scope === type?.extensions.cacheScope);
}
