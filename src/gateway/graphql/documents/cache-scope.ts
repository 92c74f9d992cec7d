import {
  type ASTVisitor,
  type DocumentNode,
  type GraphQLNamedType,
  type GraphQLSchema,
  getNamedType,
  OperationTypeNode,
  TypeInfo,
  visit,
  visitWithTypeInfo,
} from 'graphql';

/** Which caches may store a response: all, only private ones, or none. */
export type CacheScope = 'public' | 'private' | 'none';

const scopesFromWidest: readonly CacheScope[] = ['public', 'private', 'none'];

/**
 * The narrowest cache scope of all types in a document. A type declares the scope of its own and its scalar fields in
 * `extensions.cacheScope`. Mutations, and query fields whose type declares no scope, are not cached.
 */
export function findCacheScope(document: DocumentNode, schema: GraphQLSchema): CacheScope {
  const found = new Set<CacheScope | undefined>();
  const typeInfo = new TypeInfo(schema);
  const visitor: ASTVisitor = {
    OperationDefinition({ operation }) {
      if (operation !== OperationTypeNode.QUERY) found.add('none');
    },
    SelectionSet() {
      found.add(scopeOf(typeInfo.getParentType()));
    },
    Field({ name }) {
      // The scope of entities comes from the fragments on them; `__typename` needs none.
      if (typeInfo.getParentType() !== schema.getQueryType() || ['_entities', '__typename'].includes(name.value))
        return;
      found.add(scopeOf(getNamedType(typeInfo.getType())) ?? 'none');
    },
  };
  visit(document, visitWithTypeInfo(typeInfo, visitor));
  return scopesFromWidest.findLast((scope) => found.has(scope)) ?? 'none';
}

function scopeOf(type: GraphQLNamedType | null | undefined): CacheScope | undefined {
  return scopesFromWidest.find((scope) => scope === type?.extensions.cacheScope);
}
