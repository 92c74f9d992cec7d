import { type ASTVisitor, GraphQLError, parse, type SelectionSetNode, type ValidationContext } from 'graphql';
import type { Plugin } from 'graphql-yoga';

interface DocumentLimits {
  /** Tokens (names, braces, strings ...) per document. */
  maxTokens: number;
}

/** Rejects documents that are much more expensive to parse or execute than their size suggests. */
export function useDocumentLimits({ maxTokens }: DocumentLimits): Plugin {
  return {
    onParse({ params, setParseFn }) {
      setParseFn((source, options) => parse(source, { ...options, ...params.options, maxTokens }));
    },
    onValidate({ addValidationRule }) {
      addValidationRule(limitIntrospectionAliases);
      addValidationRule(limitDepth);
    },
  };
}

/** Aliases on introspection fields: tools use none, and each enlarges the response. */
const maxIntrospectionAliases = 10;
/** Levels of fields: circular types multiply the response at every level. */
const maxDepth = 8;

function limitIntrospectionAliases(context: ValidationContext): ASTVisitor {
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

/** The root fields of introspection; routers query `_service`. */
const introspectionFields = ['__schema', '__type', '_service'];

/** Follows fragments. Introspection counts as one level: tools nest `ofType` deeply. */
function limitDepth(context: ValidationContext): ASTVisitor {
  const known = new Map<string, number>();

  function depthOf({ selections }: SelectionSetNode): number {
    const depths = selections.map((selection) => {
      if (selection.kind === 'FragmentSpread') return depthOfFragment(selection.name.value);
      const below = selection.selectionSet ? depthOf(selection.selectionSet) : 0;
      if (selection.kind === 'InlineFragment') return below;
      return introspectionFields.includes(selection.name.value) ? 1 : 1 + below;
    });
    return Math.max(0, ...depths);
  }

  function depthOfFragment(name: string): number {
    const depth = known.get(name);
    if (depth !== undefined) return depth;
    // Another rule reports fragments that spread themselves.
    known.set(name, 0);
    const fragment = context.getFragment(name);
    const found = fragment ? depthOf(fragment.selectionSet) : 0;
    known.set(name, found);
    return found;
  }

  return {
    OperationDefinition(node) {
      const depth = depthOf(node.selectionSet);
      if (depth <= maxDepth) return;
      const message = `A query may have at most ${maxDepth} levels of fields; this one has ${depth}.`;
      context.reportError(new GraphQLError(message, { nodes: node }));
    },
  };
}
