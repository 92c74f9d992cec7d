import {
  type ASTVisitor,
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLSchema,
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
  // First, because the other rules ask for the usages of a definition when they leave it.
  const mergedRule = mergeRules<WalkingContext>([collectVariableUsages, ...rules]);

  return (schema, document) => {
    const errors: GraphQLError[] = [];
    const report = (error: GraphQLError) => {
      if (errors.length === maxErrors) throw new GraphQLError(tooManyErrors);
      errors.push(error);
    };
    try {
      if (!isExecutable(document)) return validate(schema, document, rules);
      const context = new WalkingContext(schema, document, report);
      walkDocument(document, context.typeInfo, mergedRule(context));
    } catch (error) {
      if (!(error instanceof GraphQLError)) throw error;
      errors.push(error);
    }
    return errors;
  };
}

/** Keeps the variables that each definition uses, which its base class would visit the definition once more to find. */
class WalkingContext extends ValidationContext implements UsageCollection {
  readonly typeInfo: TypeInfo;
  readonly usages = new Map<Definition, VariableUsages>();

  constructor(schema: GraphQLSchema, document: DocumentNode, report: (error: GraphQLError) => void) {
    const typeInfo = new TypeInfo(schema);
    super(schema, document, typeInfo, report);
    this.typeInfo = typeInfo;
  }

  override getVariableUsages(definition: Definition): VariableUsages {
    // A fragment that follows an operation which uses it has not been visited yet.
    if (!this.usages.has(definition)) {
      const typeInfo = new TypeInfo(this.getSchema());
      walkDocument(definition, typeInfo, collectingRule({ typeInfo, usages: this.usages }));
    }
    return this.usages.get(definition) ?? [];
  }
}

interface UsageCollection {
  /** The types at the node that is being visited. */
  typeInfo: TypeInfo;
  usages: Map<Definition, VariableUsages>;
}

function collectVariableUsages({ typeInfo, usages }: UsageCollection): ASTVisitor {
  let used: VariableUsages[number][] = [];
  const definition = {
    enter() {
      used = [];
    },
    leave(node: Definition) {
      usages.set(node, used);
    },
  };
  return {
    OperationDefinition: definition,
    FragmentDefinition: definition,
    VariableDefinition: () => false,
    Variable(node) {
      const [type, defaultValue] = [typeInfo.getInputType(), typeInfo.getDefaultValue()];
      used.push({ node, type, defaultValue, parentType: typeInfo.getParentInputType() });
    },
  };
}

const collectingRule = mergeRules([collectVariableUsages]);

/** As in GraphQL.js. */
const maxErrors = 100;
const tooManyErrors = 'Too many validation errors, error limit reached. Validation aborted.';

export const validateDocument = createValidation([
  limitDirectives,
  ...specifiedRules,
  limitIntrospectionAliases,
  limitAliases,
]);
