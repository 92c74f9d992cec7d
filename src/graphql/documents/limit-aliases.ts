import { type ASTVisitor, type FieldNode, GraphQLError, type ValidationContext } from 'graphql';

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

/** A validation rule: tools use few aliases on introspection fields, and each enlarges the response. */
export function limitIntrospectionAliases(context: ValidationContext): ASTVisitor {
  let aliases = 0;
  let typenameAliases = 0;
  return {
    Field(node) {
      if (node.alias === undefined) return;
      const parentType = context.getParentType();
      if (parentType?.name.startsWith('__') || introspectionFields.includes(node.name.value)) {
        aliases += 1;
        if (aliases === maxAliases + 1) report(`Introspection may have at most ${maxAliases} aliases.`, node);
      } else if (node.name.value === '__typename') {
        typenameAliases += 1;
        const message = `__typename may have at most ${maxTypenameAliases} aliases.`;
        if (typenameAliases === maxTypenameAliases + 1) report(message, node);
      }
    },
  };

  function report(message: string, node: FieldNode): void {
    context.reportError(new GraphQLError(message, { nodes: node }));
  }
}

const maxAliases = 10;
/** Tools that merge queries need one for each. */
const maxTypenameAliases = 100;

/** The root fields of introspection; routers query `_service`. */
const introspectionFields = ['__schema', '__type', '_service'];
