import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
  type OperationDefinitionNode,
  specifiedRules,
  TypeInfo,
  ValidationContext,
  type ValidationRule,
  validate,
} from 'graphql';
import { limitAliases, limitIntrospectionAliases } from './limit-aliases.ts';
import { limitDirectives } from './limit-directives.ts';
import { mergeRules } from './merge-rules.ts';
import { isExecutable, walkDocument } from './walk-document.ts';

type Validate = (schema: GraphQLSchema, document: DocumentNode) => readonly GraphQLError[];
type Definition = OperationDefinitionNode | FragmentDefinitionNode;
type VariableUsages = ReturnType<ValidationContext['getVariableUsages']>;

/**
 * Finds the same errors as `validate` of GraphQL.js, in the same order. An error that a rule throws is the last one: GraphQL.js
 * throws one where a document takes too much work.
 * @param rules each visits the same kinds of nodes in every document
 */
export function createValidation(rules: readonly ValidationRule[]): Validate {
  const mergedRule = mergeRules(rules);

  return (schema, document) => {
    const errors: GraphQLError[] = [];
    const report = (error: GraphQLError) => {
      if (errors.length === maxErrors) throw new GraphQLError(tooManyErrors);
      errors.push(error);
    };
    try {
      if (!isExecutable(document)) return validate(schema, document, rules);
      const typeInfo = new TypeInfo(schema);
      walkDocument(document, typeInfo, mergedRule(new WalkingContext(schema, document, typeInfo, report)));
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      errors.push(error);
    }
    return errors;
  };
}

/** Finds the variables that a definition uses, once for all rules, as its base class does with `visit`. */
class WalkingContext extends ValidationContext {
  readonly #usages = new Map<Definition, VariableUsages>();

  override getVariableUsages(definition: Definition): VariableUsages {
    const known = this.#usages.get(definition);
    if (known) return known;
    const usages: VariableUsages[number][] = [];
    const typeInfo = new TypeInfo(this.getSchema());
    walkDocument(definition, typeInfo, {
      enter(node) {
        if (node.kind === Kind.VARIABLE_DEFINITION) return false;
        if (node.kind !== Kind.VARIABLE) return;
        const type = typeInfo.getInputType();
        const defaultValue = typeInfo.getDefaultValue();
        usages.push({ node, type, defaultValue, parentType: typeInfo.getParentInputType() });
      },
      leave() {},
    });
    this.#usages.set(definition, usages);
    return usages;
  }
}

/** As in GraphQL.js. */
const maxErrors = 100;
const tooManyErrors = 'Too many validation errors, error limit reached. Validation aborted.';

export const validateDocument = createValidation([
  limitDirectives,
  ...specifiedRules,
  limitIntrospectionAliases,
  limitAliases,
]);
