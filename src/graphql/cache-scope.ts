import { type DocumentNode, type GraphQLSchema, getNamedType, TypeInfo, visit, visitWithTypeInfo } from 'graphql';

/** Which caches may store an answer: shared ones, only private ones, or none. */
export type CacheScope = 'public' | 'private' | 'none';

const fromWidest: readonly CacheScope[] = ['public', 'private', 'none'];

/**
 * The narrowest cache scope of all types in a document. A type declares its scope in `extensions.cacheScope`; it
 * includes the type's scalars. Mutations, and query fields whose type declares no scope, are not cached.
 */
export function readCacheScope(document: DocumentNode, schema: GraphQLSchema): CacheScope {
  const typeInfo = new TypeInfo(schema);
  const found = new Set<CacheScope | undefined>();
  const visitor = {
    Field(field: { name: { value: string } }) {
      // The scope of entities comes from the fragments on them; type names need no scope.
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
  return fromWidest.findLast((scope) => found.has(scope)) ?? 'none';
}

function scopeOf(type: { extensions: { cacheScope?: unknown } } | null | undefined): CacheScope | undefined {
  return fromWidest.find((scope) => scope === type?.extensions.cacheScope);
}
