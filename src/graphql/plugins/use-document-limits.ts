import { type ASTVisitor, GraphQLError, parse, type ValidationContext } from 'graphql';
import type { Plugin } from 'graphql-yoga';

interface DocumentLimits {
  /** Most tokens (names, braces, strings ...) of one document. */
  maxTokens: number;
  /** Most aliases on introspection fields: no tool uses any, and each multiplies the answer. */
  maxIntrospectionAliases?: number;
}

/** Refuses documents whose parsing or answering would cost out of all proportion to their size. */
export function useDocumentLimits({ maxTokens, maxIntrospectionAliases = 10 }: DocumentLimits): Plugin {
  return {
    onParse({ params, setParseFn }) {
      setParseFn((source, options) => parse(source, { ...options, ...params.options, maxTokens }));
    },
    onValidate({ addValidationRule }) {
      addValidationRule((context: ValidationContext) => limitIntrospectionAliases(context, maxIntrospectionAliases));
    },
  };
}

function limitIntrospectionAliases(context: ValidationContext, most: number): ASTVisitor {
  let aliases = 0;
  return {
    Field(node) {
      const isIntrospection = context.getParentType()?.name.startsWith('__') ?? false;
      if (!isIntrospection || node.alias === undefined) return;
      aliases += 1;
      if (aliases !== most + 1) return;
      context.reportError(new GraphQLError(`Introspection may have at most ${most} aliases.`, { nodes: node }));
    },
  };
}
