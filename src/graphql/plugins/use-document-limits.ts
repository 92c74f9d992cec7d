import { type ASTVisitor, GraphQLError, parse, type SelectionSetNode, type ValidationContext } from 'graphql';
import type { Plugin } from 'graphql-yoga';

interface DocumentLimits {
  /** Most tokens (names, braces, strings ...) of one document. */
  maxTokens: number;
  /** Most aliases on introspection fields: no tool uses any, and each multiplies the answer. */
  maxIntrospectionAliases?: number;
  /** Most levels of fields: types that lead to each other multiply the answer at every level. */
  maxDepth?: number;
}

/** Refuses documents whose parsing or answering would cost out of all proportion to their size. */
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

function limitIntrospectionAliases(context: ValidationContext, most: number): ASTVisitor {
  let aliases = 0;
  return {
    Field(node) {
      const isWithin = context.getParentType()?.name.startsWith('__') ?? false;
      const isIntrospection = isWithin || introspectionFields.includes(node.name.value);
      if (!isIntrospection || node.alias === undefined) return;
      aliases += 1;
      if (aliases !== most + 1) return;
      context.reportError(new GraphQLError(`Introspection may have at most ${most} aliases.`, { nodes: node }));
    },
  };
}

/** Where introspection begins; routers ask for `_service`. */
const introspectionFields = ['__schema', '__type', '_service'];

/** Counts through fragments, and not what introspection nests: tools ask for types of types of types. */
function limitDepth(context: ValidationContext, most: number): ASTVisitor {
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
    // One that spreads itself is told by another rule.
    known.set(name, 0);
    const fragment = context.getFragment(name);
    const found = fragment ? depthOf(fragment.selectionSet) : 0;
    known.set(name, found);
    return found;
  }

  return {
    OperationDefinition(node) {
      const depth = depthOf(node.selectionSet);
      if (depth <= most) return;
      const message = `A query may have at most ${most} levels of fields; this one has ${depth}.`;
      context.reportError(new GraphQLError(message, { nodes: node }));
    },
  };
}
