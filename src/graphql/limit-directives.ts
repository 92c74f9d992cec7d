import { type ASTNode, type ASTVisitor, GraphQLError, Kind } from 'graphql';

/**
 * A validation rule: each directive can be an error of its own. Throws, so that these are not reported; the schema has two
 * directives for queries.
 */
export function limitDirectives(): ASTVisitor {
  return visitor;
}

function check(node: ASTNode): void {
  if (!('directives' in node) || (node.directives?.length ?? 0) <= maxDirectives) return;
  throw new GraphQLError(`A field, fragment or operation may have at most ${maxDirectives} directives.`, {
    nodes: node,
  });
}

/** For the kinds of nodes that have directives. */
const visitor: ASTVisitor = {
  [Kind.OPERATION_DEFINITION]: check,
  [Kind.VARIABLE_DEFINITION]: check,
  [Kind.FIELD]: check,
  [Kind.FRAGMENT_SPREAD]: check,
  [Kind.INLINE_FRAGMENT]: check,
  [Kind.FRAGMENT_DEFINITION]: check,
};

const maxDirectives = 5;
