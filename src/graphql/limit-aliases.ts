import { type ASTVisitor, GraphQLError, type ValidationContext } from 'graphql';

/** A validation rule: an alias is repeated in the response for each entry of each list, and in the path of each error. */
export function limitAliases(context: ValidationContext): ASTVisitor {
  return {
    Field(node) {
      if (node.alias === undefined || node.alias.value.length <= maxLength) return;
      context.reportError(new GraphQLError(`An alias must have at most ${maxLength} characters.`, { nodes: node }));
    },
  };
}

const maxLength = 100;
