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

/** A validation rule: tools use no aliases on introspection fields, and each enlarges the response. */
export function limitIntrospectionAliases(context: ValidationContext): ASTVisitor {
  let aliases = 0;
  return {
    Field(node) {
      const isOnIntrospectionType = context.getParentType()?.name.startsWith('__') ?? false;
      const isIntrospection = isOnIntrospectionType || introspectionFields.includes(node.name.value);
      if (!isIntrospection || node.alias === undefined) return;
      aliases += 1;
      if (aliases !== maxIntrospectionAliases + 1) return;
      const message = `Introspection may have at most ${maxIntrospectionAliases} aliases.`;
      context.reportError(new GraphQLError(message, { nodes: node }));
    },
  };
}

const maxIntrospectionAliases = 10;

/** The root fields of introspection; routers query `_service`. */
const introspectionFields = ['__schema', '__type', '_service'];
