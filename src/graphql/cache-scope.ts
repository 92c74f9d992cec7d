import { type DocumentNode, type GraphQLSchema, getNamedType, TypeInfo, visit, visitWithTypeInfo } from 'graphql';

/** Who may keep an answer: anybody on its way, only caches that tell callers apart, or nobody. */
export type CacheScope = 'public' | 'private' | 'none';

const fromWidest: readonly CacheScope[] = ['public', 'private', 'none'];

/**
 * The narrowest scope of all that a document asks. A type says its own in `extensions.cacheScope`, and the values in it
 * go along with it. Mutations, and root fields whose type says nothing, are kept by nobody.
 */
export function readCacheScope(document: DocumentNode, schema: GraphQLSchema): CacheScope {
  const typeInfo = new TypeInfo(schema);
  const found = new Set<CacheScope | undefined>();
  const visitor = {
    Field(field: { name: { value: string } }) {
      // Entities are told by the fragments on them, and the name of a type says nothing that could grow old.
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
