import {
  type ASTVisitor,
  type ExecutionArgs,
  type FragmentDefinitionNode,
  GraphQLError,
  getOperationAST,
  Kind,
  type OperationDefinitionNode,
  parse,
  type ValidationContext,
} from 'graphql';
import type { Plugin } from 'graphql-yoga';
import { findDocumentProblem } from '../document-problem.ts';
import { parseDetached } from '../document-source.ts';
import { limitAliases } from '../limit-aliases.ts';
import { computeOperationCost } from '../operation-cost.ts';
import { findVariableProblem } from '../variable-problem.ts';

export interface DocumentLimits {
  /** Tokens (names, braces, strings ...), and lines, per document. */
  tokens: number;
  /** Characters per document. */
  characters: number;
  /** Fields in the response and weights, computed before execution. */
  cost: number;
}

export interface OperationCost {
  operationCost: number;
}

/**
 * Rejects documents that are much more expensive to parse or execute than their size suggests. Adds the cost of an accepted
 * operation to the context.
 */
export function useDocumentLimits(limits: DocumentLimits): Plugin<Partial<OperationCost>> {
  return {
    onParse({ params, setParseFn }) {
      setParseFn((text: string, options) => {
        const problem = findDocumentProblem(text, limits);
        if (problem !== null) throw new GraphQLError(problem);
        const parserOptions = { ...options, ...params.options, maxTokens: limits.tokens };
        return parseDetached(text, (source) => parse(source, parserOptions));
      });
    },
    onValidate({ addValidationRule }) {
      addValidationRule(limitIntrospectionAliases);
      addValidationRule(limitAliases);
    },
    onExecute({ args, extendContext, setResultAndStopExecution }) {
      const operation = getOperationAST(args.document, args.operationName);
      // The executor reports an operation that does not exist.
      if (!operation) return;
      const operationCost = costOf(operation, args);
      extendContext({ operationCost });
      const problem =
        operationCost > limits.cost
          ? describeCost(operationCost, limits.cost)
          : findVariableProblem(args.schema, operation, args.variableValues ?? {});
      if (problem === null) return;
      const extensions = { code: 'BAD_USER_INPUT', http: { status: 400, spec: true } };
      setResultAndStopExecution({ errors: [new GraphQLError(problem, { extensions })] });
    },
  };
}

function costOf(operation: OperationDefinitionNode, { schema, document, variableValues }: ExecutionArgs): number {
  const isFragment = (node: { kind: string }): node is FragmentDefinitionNode => node.kind === Kind.FRAGMENT_DEFINITION;
  const fragments = new Map(document.definitions.filter(isFragment).map((node) => [node.name.value, node]));
  return computeOperationCost({ schema, operation, fragments, variables: variableValues ?? {} });
}

function describeCost(cost: number, limit: number): string {
  return (
    `The query costs ${cost}; it may cost at most ${limit} (MAX_QUERY_COST). Each field of the response costs 1, and a ` +
    'look-up 10: select fewer fields or shorter lists, or split it into several queries.'
  );
}

/** Aliases on introspection fields: tools use none, and each enlarges the response. */
const maxIntrospectionAliases = 10;

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
