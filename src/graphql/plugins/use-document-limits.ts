import { type ASTVisitor, GraphQLError, parse, type SelectionSetNode, type ValidationContext } from 'graphql';
import type { Plugin } from 'graphql-yoga';

interface DocumentLimits {
  /** Tokens (names, braces, strings ...) per document. */
  maxTokens: number;
  /** Aliases on introspection fields: tools use none, and each enlarges the response. */
  maxIntrospectionAliases?: number;
  /** Levels of fields: circular types multiply the response at every level. */
  maxDepth?: number;
}

/** Rejects documents that are much more expensive to parse or execute than their size suggests. */
export function useDocumentLimits({ maxTokens, maxIntrospectionAliases = 10, maxDepth = 8 }: DocumentLimits): Plugin {
  return {
    onParse({ params, setParseFn }) {
      setParseFn((source, options) => parse(source, { ...options, ...params.options, maxTokens }));
    },
    onValidate({ addValidationRule }) {
      addValidationRule((context: ValidationContext) => limitIntrospectionAliases(context, maxIntrospectionAliases));
      addValidationRule((context: ValidationContext) => limitDepth(context, maxDepth));
    },
  };
}

function limitIntrospectionAliases(context: ValidationContext, max: number): ASTVisitor {
  let aliases = 0;
  return {
    Field(node) {
      const isOnIntrospectionType = context.getParentType()?.name.startsWith('__') ?? false;
      const isIntrospection = isOnIntrospectionType || introspectionFields.includes(node.name.value);
      if (!isIntrospection || node.alias === undefined) return;
      aliases += 1;
      if (aliases !== max + 1) return;
      context.reportError(new GraphQLError(`Introspection may have at most ${max} aliases.`, { nodes: node }));
    },
  };
}

/** The root fields of introspection; routers query `_service`. */
const introspectionFields = ['__schema', '__type', '_service'];

/** Follows fragments. Introspection counts as one level: tools nest `ofType` deeply. */
function limitDepth(context: ValidationContext, max: number): ASTVisitor {
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
      if (depth <= max) return;
      const message = `A query may have at most ${max} levels of fields; this one has ${depth}.`;
      context.reportError(new GraphQLError(message, { nodes: node }));
    },
  };
}
