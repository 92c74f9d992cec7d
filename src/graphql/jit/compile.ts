import {
  type DocumentNode,
  type ExecutionResult,
  GraphQLFloat,
  GraphQLInt,
  type GraphQLOutputType,
  GraphQLScalarType,
  type GraphQLSchema,
  getNamedType,
  getVariableValues,
  isEnumType,
  Kind,
  type VariableDefinitionNode,
  valueFromAST,
} from 'graphql';
import { SyncPromise } from '../../async/sync-promise.ts';
import { withAttachedSource } from '../documents/source.ts';
import { createCoercedCheck } from './coerced-variables.ts';
import type { CompilableOperation } from './compilable-operation.ts';
import { adaptErrors } from './errors.ts';
import { literalPrefix, type SpecializedDocument, specializeDocument } from './specialized-document.ts';

type Variables = Readonly<Record<string, unknown>>;

/**
 * Executes a compiled operation with the variables of a request. Without data, they are not valid. Null if GraphQL.js
 * should execute it.
 */
export type Run = (
  contextValue: unknown,
  variables: Variables,
) => ExecutionResult | PromiseLike<ExecutionResult> | null;

interface CompileOptions {
  schema: GraphQLSchema;
  compilable: CompilableOperation;
  /** The values of the variables that decide what is selected. */
  conditions: Variables;
  compileQuery: typeof import('graphql-jit').compileQuery;
}

/** Null if it cannot be compiled. */
export function compileOperation({ schema, compilable, conditions, compileQuery }: CompileOptions): Run | null {
  const { variableDefinitions = [] } = compilable.definition;
  if (variableDefinitions.some(({ variable }) => isReserved(variable.name.value))) return null;
  const specialized = specializeDocument(schema, compilable.document, conditions);
  const document = withRawVariables(specialized);
  const options = {
    disablingCapturingStackErrors: true,
    disableLeafSerialization: [...specialized.fieldTypes.values()].every(needsNoSerialization),
  };
  const compiled = withAttachedSource(document, () => compileQuery(withRawType(schema), document, undefined, options));
  if (!('query' in compiled)) return null;
  const adapt = (result: ExecutionResult) => adaptErrors(result, fieldTypes);
  const query = (contextValue: unknown, variables: Variables) => {
    const result = compiled.query(undefined, contextValue, variables);
    return 'then' in result ? SyncPromise.from(result).then(adapt) : adapt(result);
  };
  const { literals, templates, fieldTypes } = specialized;
  const hasArguments = Object.keys(literals).length + templates.size > 0;
  const areCoerced = createCoercedCheck(variableDefinitions);

  return (contextValue, variables) => {
    let coerced: Variables = variables;
    if (!areCoerced(variables)) {
      // Its errors are those of operations that are not compiled, and there are at most 50.
      const values = getVariableValues(schema, variableDefinitions, variables, { maxErrors });
      if (values.errors) return values;
      ({ coerced } = values);
    }
    if (!hasArguments) return query(contextValue, coerced);
    const all: Record<string, unknown> = { ...coerced, ...literals };
    for (const [name, { value, type }] of templates) {
      all[name] = valueFromAST(value, type, coerced);
      if (all[name] === undefined) return null;
    }
    return query(contextValue, all);
  };
}

/**
 * Whether resolvers return what is served, as strings, ids and booleans, whose types TypeScript checks. Serialization would
 * create the path of each value in case of an error: three quarters of the memory of a list. graphql-jit serializes custom
 * scalars in any case.
 */
function needsNoSerialization(type: GraphQLOutputType): boolean {
  const named = getNamedType(type);
  return !isEnumType(named) && named !== GraphQLInt && named !== GraphQLFloat;
}

/** Also the names of inherited properties: graphql-jit reads variables from an ordinary object. */
function isReserved(name: string): boolean {
  return name in Object.prototype || name.startsWith(literalPrefix);
}

/** Declares the additional variables. All pass unchanged: they were coerced before. */
function withRawVariables({ document, literals, templates }: SpecializedDocument): DocumentNode {
  const additional = [...Object.keys(literals), ...templates.keys()].map(
    (name): VariableDefinitionNode => ({
      kind: Kind.VARIABLE_DEFINITION,
      variable: { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } },
      type: rawTypeNode,
    }),
  );
  const definitions = document.definitions.map((node) => {
    if (node.kind !== Kind.OPERATION_DEFINITION) return node;
    const own = node.variableDefinitions?.map((one) => ({ ...one, type: rawTypeNode }));
    return { ...node, variableDefinitions: [...(own ?? []), ...additional] };
  });
  return { ...document, definitions };
}

/** The same schema with one more type. */
function withRawType(schema: GraphQLSchema): GraphQLSchema {
  const getType = (name: string) => (name === rawType.name ? rawType : schema.getType(name));
  return Object.create(schema, { getType: { value: getType } });
}

const rawType = new GraphQLScalarType({ name: '__Raw' });
const rawTypeNode = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: rawType.name } } as const;

/** As in `execute` of GraphQL.js. */
const maxErrors = 50;
