import {
  type ASTNode,
  type DocumentNode,
  type ExecutionResult,
  type FragmentDefinitionNode,
  GraphQLError,
  type GraphQLField,
  GraphQLFloat,
  type GraphQLInputType,
  GraphQLInt,
  type GraphQLNamedType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  getVariableValues,
  isAbstractType,
  isEnumType,
  isInterfaceType,
  isListType,
  isNonNullType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
  type SourceLocation,
  TypeInfo,
  type ValueNode,
  type VariableDefinitionNode,
  valueFromAST,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import type { TimeSlices } from '../../../base/async/time-slices.ts';

/*
 * Compiles an operation with graphql-jit, and works around its differences from GraphQL.js: each paragraph that begins with
 * "graphql-jit" describes one of them, and test/gateway/graphql/jit/bugs.test.ts shows it. Two more concern only schemas
 * that differ from ours: graphql-jit mixes up resolvers if the names of their type and field are the same when joined, and
 * reorders lists whose items reject. A test checks that the schema has neither.
 */

type Variables = Readonly<Record<string, unknown>>;

export interface Operation {
  document: DocumentNode;
  definition: OperationDefinitionNode;
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
}

/** The part of a resolver's context on which a compiled operation depends. */
export interface RunContext {
  /** The time slices in which a large operation is completed; null: it is small, and completed at once. */
  slices: TimeSlices | null;
}

/**
 * Executes a compiled operation with the variables of a request. Without data, they are not valid. Null if GraphQL.js
 * should execute it.
 */
export type Run = (contextValue: RunContext, variables: Variables) => ExecutionResult | Promise<ExecutionResult> | null;

export type Compiler = ReturnType<typeof createCompiler>;

/**
 * Compiles operations that are executed more than once, with graphql-jit: executing a look-up then takes a thirtieth of the
 * time. Compiling takes as long as a thousand executions, so at most a twentieth of the time is spent on it, however many
 * documents clients send. An operation that cannot be compiled is executed by GraphQL.js, and so are all where V8 may not
 * generate code.
 */
export function createCompiler(schema: GraphQLSchema) {
  let jit: Promise<typeof import('graphql-jit')> | undefined;
  let nextAt = 0;

  return {
    /**
     * @param addBytes called when it is compiled, with the memory of its code
     * @returns a function to call once per execution: it returns the compiled operation, or null until it is compiled
     */
    register(operation: Operation, addBytes: (bytes: number) => void): () => Run | null {
      let wasExecuted = false;
      /** Undefined: to be compiled. Null: it is being compiled, or cannot be. */
      let run: Run | null | undefined;

      return () => {
        if (run !== undefined) return run;
        if (!wasExecuted) wasExecuted = true;
        else if (performance.now() >= nextAt) {
          run = null;
          // After the response, which should not wait for it.
          setImmediate(() => compileInTurn().catch(() => {}));
        }
        return null;
      };

      async function compileInTurn(): Promise<void> {
        jit ??= import('graphql-jit');
        const { compileQuery } = await jit;
        // Others may have been compiled while this one waited.
        if (performance.now() < nextAt) {
          run = undefined;
          return;
        }
        const startedAt = performance.now();
        const compiled = compileOperation(schema, operation, compileQuery);
        nextAt = performance.now() + 20 * (performance.now() - startedAt);
        if (compiled === null) return;
        run = compiled.run;
        addBytes(compiled.bytes);
      }
    },
  };
}

type CompileQuery = typeof import('graphql-jit').compileQuery;

/** Null if an operation cannot be compiled. `bytes` is the memory of the compiled code. */
export function compileOperation(
  schema: GraphQLSchema,
  operation: Operation,
  compileQuery: CompileQuery,
): { run: Run; bytes: number } | null {
  const compilable = findCompilable(schema, operation);
  if (compilable === null) return null;
  const { document, values, fieldTypes } = withVariables(schema, compilable.document);
  const options = {
    disablingCapturingStackErrors: true,
    disableLeafSerialization: [...fieldTypes.values()].every(needsNoSerialization),
  };
  const compiled = compileQuery(schema, document, undefined, options);
  if (!('query' in compiled)) return null;
  const { variableDefinitions = [] } = operation.definition;

  const run: Run = (contextValue, variables) => {
    const { coerced, errors } = getVariableValues(schema, variableDefinitions, variables, { maxErrors });
    if (errors) return { errors };
    const all: Record<string, unknown> = { ...coerced };
    for (const [name, { value, type }] of values) {
      all[name] = valueFromAST(value, type, coerced);
      // GraphQL.js describes what is wrong with it.
      if (all[name] === undefined) return null;
    }
    const result = compiled.query(undefined, contextValue, all);
    if (result instanceof Promise) return result.then((result) => adaptErrors(result, fieldTypes, contextValue.slices));
    return adaptErrors(result, fieldTypes, contextValue.slices);
  };
  return { run, bytes: bytesPerOperation + compilable.characters * bytesPerCharacter };
}

/** As in `execute` of GraphQL.js. */
const maxErrors = 50;

/** The memory of compiled code, without and with the paths of its fields. */
const bytesPerOperation = 8_000;
const bytesPerCharacter = 100;

/**
 * The operation and the fragments that it uses, with the length of the paths of all fields, which the code contains. Null for
 * introspection, which only some callers may use and which is rare, for operations whose code would be large, and
 * for those that graphql-jit executes wrongly.
 */
function findCompilable(schema: GraphQLSchema, { document, definition, fragments }: Operation) {
  const { operation, variableDefinitions = [], selectionSet } = definition;
  const used = new Set<FragmentDefinitionNode>();
  let characters = 0;
  let weight = 0;

  // graphql-jit runs the next mutation after one has failed whose result must not be null. GraphQL.js does not.
  if (operation !== OperationTypeNode.QUERY) return null;

  // graphql-jit reads variables from an ordinary object: one that is not sent has the value of an inherited property.
  if (variableDefinitions.some(({ variable }) => isReserved(variable.name.value))) return null;

  if (!mayCompile(selectionSet, schema.getQueryType(), 0)) return null;
  const definitions = [definition, ...used];
  return {
    document: { kind: Kind.DOCUMENT, definitions, ...(document.loc && { loc: document.loc }) } as const,
    characters,
  };

  /** @param pathLength in characters: the code of each field contains its path several times */
  function mayCompile(
    { selections }: SelectionSetNode,
    parent: GraphQLNamedType | null | undefined,
    pathLength: number,
  ): boolean {
    return selections.every((selection) => {
      // graphql-jit merges the conditions (`@skip`, `@include`) of all places where a fragment or a field of it is used.
      if (selection.directives?.length) return false;

      if (selection.kind === Kind.INLINE_FRAGMENT) {
        const { typeCondition, selectionSet } = selection;
        return mayCompile(selectionSet, typeCondition ? schema.getType(typeCondition.name.value) : parent, pathLength);
      }
      if (selection.kind === Kind.FRAGMENT_SPREAD) {
        const fragment = fragments.get(selection.name.value);
        if (fragment === undefined) return false;
        used.add(fragment);
        return mayCompile(fragment.selectionSet, schema.getType(fragment.typeCondition.name.value), pathLength);
      }
      const { name, alias = name, selectionSet } = selection;
      // graphql-jit writes the names of fields into object literals, where `__proto__` is not a property.
      if (alias.value === '__proto__' || introspectionFields.has(name.value)) return false;

      const fieldPathLength = pathLength + alias.value.length + charactersPerName;
      characters += fieldPathLength;
      const field = isObjectType(parent) || isInterfaceType(parent) ? parent.getFields()[name.value] : undefined;
      weight += weigh(field);
      if (characters > maxCharacters || weight > maxWeight) return false;
      return !selectionSet || mayCompile(selectionSet, field && getNamedType(field.type), fieldPathLength);
    });
  }
}

const introspectionFields = new Set(['__schema', '__type', '_service']);

/** In memory, about 4 MB. */
const maxCharacters = 40_000;
/** They take about 20 ms, and as much when they are first executed: ninety aliases of a look-up with ten fields. */
const maxWeight = 1_200;
/** Added to the length of each name. */
const charactersPerName = 20;

/** The time that the code of a field takes, in that of a field without a resolver, about 15 µs. */
function weigh(field: GraphQLField<unknown, unknown> | undefined): number {
  if (field === undefined) return 1;
  return 1 + (field.resolve ? 3 : 0) + (isAbstractType(getNamedType(field.type)) ? 6 : 0);
}

function isReserved(name: string): boolean {
  return name in Object.prototype || name.startsWith(argumentPrefix);
}

/**
 * graphql-jit writes literals into the code that it generates, where some texts become code: so each argument that is not a
 * variable becomes one.
 *
 * graphql-jit coerces variables with other results and errors than GraphQL.js, which coerces them before: so all are declared
 * with a type that changes no value.
 */
function withVariables(schema: GraphQLSchema, original: DocumentNode) {
  /** The argument that each added variable replaces. */
  const values = new Map<string, { value: ValueNode; type: GraphQLInputType }>();
  const fieldTypes = new Map<number, GraphQLOutputType>();
  const typeInfo = new TypeInfo(schema);
  const visitor = visitWithTypeInfo(typeInfo, {
    VariableDefinition: () => false,
    Field: (node) => addFieldType(node),
    Argument(node) {
      const { value } = node;
      addFieldType(value);
      const type = typeInfo.getInputType();
      if (value.kind === Kind.VARIABLE || !type) return undefined;
      const name = `${argumentPrefix}${values.size}`;
      values.set(name, { value, type });
      return { ...node, value: { ...variableOf(name), loc: value.loc } };
    },
  });
  const { definitions, ...document }: DocumentNode = visit(original, visitor);
  const declared = definitions.map((node) => {
    if (node.kind !== Kind.OPERATION_DEFINITION) return node;
    const names = (node.variableDefinitions ?? []).map(({ variable }) => variable.name.value);
    return { ...node, variableDefinitions: [...names, ...values.keys()].map(declare) };
  });
  return { document: { ...document, definitions: declared }, values, fieldTypes };

  function addFieldType({ loc }: ASTNode): void {
    const type = typeInfo.getType();
    if (type && loc) fieldTypes.set(keyOfLocation(loc.startToken), type);
  }
}

const argumentPrefix = '__argument';

function declare(name: string): VariableDefinitionNode {
  return { kind: Kind.VARIABLE_DEFINITION, variable: variableOf(name), type: anyType };
}

function variableOf(name: string) {
  return { kind: Kind.VARIABLE, name: { kind: Kind.NAME, value: name } } as const;
}

/** The scalar of federated schemas for the representations of entities. */
const anyType = { kind: Kind.NAMED_TYPE, name: { kind: Kind.NAME, value: '_Any' } } as const;

/**
 * graphql-jit creates the path of each value that it serializes, in case of an error: three quarters of the memory of a
 * list. Resolvers return strings, ids and booleans as they are served, which TypeScript checks. Custom scalars are serialized
 * in any case.
 */
function needsNoSerialization(type: GraphQLOutputType): boolean {
  const named = getNamedType(type);
  return !isEnumType(named) && named !== GraphQLInt && named !== GraphQLFloat;
}

/** The types of fields, by the places of the fields and of their arguments in a document. */
type FieldTypes = ReadonlyMap<number, GraphQLOutputType>;

/** A place as a key: a number, as there may be 80,000 errors. */
function keyOfLocation({ line, column }: SourceLocation): number {
  return line * maxColumns + column;
}

/** More than a document has characters. */
const maxColumns = 2 ** 27;

/**
 * Turns the errors of graphql-jit into the errors that GraphQL.js reports.
 *
 * graphql-jit reports every field of an object that failed although it must not be null. GraphQL.js reports only the first:
 * the object is null because of it.
 *
 * graphql-jit reports faults of the server, such as null in the place of a value, without an `originalError`, which marks them
 * as such.
 */
function adaptErrors(
  result: ExecutionResult,
  types: FieldTypes,
  slices: TimeSlices | null,
): ExecutionResult | Promise<ExecutionResult> {
  const { data, errors } = result;
  if (errors === undefined) return result;
  const nulls = new Set<string>();
  const adapt = (error: GraphQLError) => {
    const { size } = nulls;
    const isReported = !isPropagated(error, types) || nulls.add(findNull(data, error.path ?? [])).size > size;
    return isReported ? [markFault(error)] : [];
  };
  if (slices === null) return { ...result, errors: errors.flatMap(adapt) };
  return mapInSlices(errors, adapt, slices).then((errors) => ({ ...result, errors }));
}

/** A thousand errors at a time: each IBAN of a list may have failed in eighty fields. */
async function mapInSlices(
  errors: readonly GraphQLError[],
  adapt: (error: GraphQLError) => readonly GraphQLError[],
  inTimeSlice: TimeSlices,
): Promise<GraphQLError[]> {
  const adapted: GraphQLError[] = [];
  for (let index = 0; index < errors.length; index += 1_000) {
    await inTimeSlice(() => adapted.push(...errors.slice(index, index + 1_000).flatMap(adapt)));
  }
  return adapted;
}

/** Whether the value that failed must not be null. */
function isPropagated({ path = [], locations: [location] = [] }: GraphQLError, types: FieldTypes): boolean {
  let type = location && types.get(keyOfLocation(location));
  const depth = path.length - 1 - path.findLastIndex((key) => typeof key === 'string');
  for (let level = 0; level < depth; level += 1) {
    const list = type && getNullableType(type);
    type = isListType(list) ? list.ofType : undefined;
  }
  return isNonNullType(type);
}

/** The path of the null that an error caused. */
function findNull(data: unknown, path: readonly (string | number)[]): string {
  let value = data;
  const depth = path.findIndex((key) => {
    const isNull = value === null || value === undefined;
    if (!isNull) value = (value as Record<string | number, unknown>)[key];
    return isNull;
  });
  return path.slice(0, depth === -1 ? path.length : depth).join('.');
}

/** Errors of resolvers have an original error, and wrong arguments have none in GraphQL.js either. */
function markFault(error: GraphQLError): GraphQLError {
  if (error.originalError || error.message.startsWith('Argument "')) return error;
  const { message, path, locations } = error;
  const fault = new GraphQLError(message, { path: path ?? null, originalError: new Error(message) });
  return Object.assign(fault, { locations });
}
