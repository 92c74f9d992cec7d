import {
  type DocumentNode,
  GraphQLError,
  type GraphQLSchema,
  Kind,
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
type VariableUsages = ReturnType<ValidationContext['getVariableUsages']>;

/**
 * Finds the same errors as `validate` of GraphQL.js, in the same order. A rule that throws an error ends the validation with
 * this error.
 * @param rules each visits the same kinds of nodes in every document
 */
export function createValidation(rules: readonly ValidationRule[]): Validate {
  const mergedRule = mergeRules(rules);

  return (schema, document) => {
    try {
      return isExecutable(document) ? findErrors(schema, document) : validate(schema, document, rules);
    } catch (error) {
      if (error instanceof GraphQLError) return [error];
      throw error;
    }
  };

  function findErrors(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[] {
    const errors: GraphQLError[] = [];
    const typeInfo = new TypeInfo(schema);
    const report = (error: GraphQLError) => {
      if (errors.length === maxErrors) throw tooManyErrors;
      errors.push(error);
    };
    try {
      walkDocument(document, typeInfo, mergedRule(new WalkingContext(schema, document, typeInfo, report)));
    } catch (error) {
      if (error !== tooManyErrors) throw error;
      errors.push(new GraphQLError('Too many validation errors, error limit reached. Validation aborted.'));
    }
    return errors;
  }
}

/** Several rules ask for the variables that an operation or a fragment uses. */
class WalkingContext extends ValidationContext {
  readonly #usages = new Map<Parameters<ValidationContext['getVariableUsages']>[0], VariableUsages>();

  override getVariableUsages(node: Parameters<ValidationContext['getVariableUsages']>[0]): VariableUsages {
    const known = this.#usages.get(node);
    if (known) return known;
    const usages: VariableUsages[number][] = [];
    const typeInfo = new TypeInfo(this.getSchema());
    walkDocument(node, typeInfo, {
      enter(node) {
        if (node.kind === Kind.VARIABLE_DEFINITION) return false;
        if (node.kind !== Kind.VARIABLE) return;
        const type = typeInfo.getInputType();
        const defaultValue = typeInfo.getDefaultValue();
        usages.push({ node, type, defaultValue, parentType: typeInfo.getParentInputType() });
      },
      leave() {},
    });
    this.#usages.set(node, usages);
    return usages;
  }
}

/** As in GraphQL.js. */
const maxErrors = 100;
const tooManyErrors = new Error('too many validation errors');

export const validateDocument = createValidation([
  limitDirectives,
  ...specifiedRules,
  limitIntrospectionAliases,
  limitAliases,
]);
