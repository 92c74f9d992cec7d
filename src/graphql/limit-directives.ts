import { type ASTNode, type ASTVisitor, GraphQLError } from 'graphql';

/**
 * A validation rule: each directive can be an error of its own. Throws, so that these are not reported; the schema has two
 * directives for queries.
 */
export function limitDirectives(): ASTVisitor {
  return {
    enter(node: ASTNode) {
      if (!('directives' in node) || (node.directives?.length ?? 0) <= maxDirectives) return;
      throw new GraphQLError(`A field, fragment or operation may have at most ${maxDirectives} directives.`, {
        nodes: node,
      });
    },
  };
}

const maxDirectives = 5;
