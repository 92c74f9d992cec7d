import { type ASTNode, GraphQLError, Kind } from 'graphql';

/**
 * A validation rule: each directive can be an error of its own. Throws, so that these are not reported; the schema has two
 * directives for queries.
 */
export function limitDirectives() {
  return visitor;
}

function check(node: NodeWithDirectives): void {
  if ((node.directives?.length ?? 0) <= maxDirectives) return;
  throw new GraphQLError(`A field, fragment or operation may have at most ${maxDirectives} directives.`, {
    nodes: node,
  });
}

/** It visits no other nodes, which would take as long as checking these. The compiler finds a kind that is missing. */
const visitor: Record<NodeWithDirectives['kind'], typeof check> = {
  [Kind.OPERATION_DEFINITION]: check,
  [Kind.VARIABLE_DEFINITION]: check,
  [Kind.FIELD]: check,
  [Kind.FRAGMENT_SPREAD]: check,
  [Kind.INLINE_FRAGMENT]: check,
  [Kind.FRAGMENT_DEFINITION]: check,
  [Kind.SCHEMA_DEFINITION]: check,
  [Kind.SCALAR_TYPE_DEFINITION]: check,
  [Kind.OBJECT_TYPE_DEFINITION]: check,
  [Kind.FIELD_DEFINITION]: check,
  [Kind.INPUT_VALUE_DEFINITION]: check,
  [Kind.INTERFACE_TYPE_DEFINITION]: check,
  [Kind.UNION_TYPE_DEFINITION]: check,
  [Kind.ENUM_TYPE_DEFINITION]: check,
  [Kind.ENUM_VALUE_DEFINITION]: check,
  [Kind.INPUT_OBJECT_TYPE_DEFINITION]: check,
  [Kind.DIRECTIVE_DEFINITION]: check,
  [Kind.SCHEMA_EXTENSION]: check,
  [Kind.SCALAR_TYPE_EXTENSION]: check,
  [Kind.OBJECT_TYPE_EXTENSION]: check,
  [Kind.INTERFACE_TYPE_EXTENSION]: check,
  [Kind.UNION_TYPE_EXTENSION]: check,
  [Kind.ENUM_TYPE_EXTENSION]: check,
  [Kind.INPUT_OBJECT_TYPE_EXTENSION]: check,
  [Kind.DIRECTIVE_EXTENSION]: check,
};

type NodeWithDirectives = Extract<ASTNode, { readonly directives?: readonly unknown[] }>;

const maxDirectives = 5;
