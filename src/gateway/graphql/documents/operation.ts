import {
  createSourceEventStream,
  type DocumentNode,
  defaultFieldResolver,
  type ExecutionResult,
  execute,
  type FragmentDefinitionNode,
  type GraphQLError,
  type GraphQLField,
  type GraphQLFieldResolver,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  isCompositeType,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  SchemaMetaFieldDef,
  TypeMetaFieldDef,
} from 'graphql';
import type { TimeSlices } from '../../../base/async/time-slices.ts';
import { type Caller, requireScope } from '../../callers/caller.ts';
import type { RequestContext } from '../../request-context.ts';
import { StoreError } from '../../stores/store.ts';
import type { OperationType } from '../../telemetry/events.ts';
import type { Compiler, RunContext } from '../jit/compiler.ts';
import type { CacheScope } from './cache-scope.ts';
import { createOperationCost } from './cost.ts';
import { createRequestError } from './document-errors.ts';
import { createVariableCheck } from './document-limits.ts';

type Variables = Readonly<Record<string, unknown>>;

/** A document that was parsed and validated. */
export interface PreparedDocument {
  /** Null if it cannot be parsed. */
  document: DocumentNode | null;
  /** Empty if it is valid. */
  errors: readonly GraphQLError[];
  /** The operation with this name, or the only one. @throws GraphQLError if the document does not have it */
  operation(name: string | null | undefined): PreparedOperation;
}

/** An operation of a valid document, with everything that is the same for each of its executions. */
export interface PreparedOperation {
  label: OperationLabel;
  cacheScope: CacheScope;
  /** Whether the same variables have the same result while the look-ups in it are fresh. */
  isRepeatable: boolean;
  /** The maximum number of fields in the response, plus weights. The caller's limit is checked before it is executed. */
  cost(variables: Variables): number;
  /**
   * Executes it. Fields are in the order of the query. Variables that are not valid are errors without data.
   * @param schema another one than the prepared, such as one with timers
   */
  execute(
    contextValue: OperationContext,
    variables: Variables,
    schema?: GraphQLSchema,
  ): ExecutionResult | Promise<ExecutionResult>;
  /**
   * Subscribes: the results of the events, or one result with errors. Subscriptions of one caller with the same variables have
   * the same results of the same event, which must not be changed.
   * @param createContext called for each event, whose limits are its own
   */
  subscribe(
    createContext: () => OperationContext,
    variables: Variables,
  ): Promise<AsyncIterable<ExecutionResult> | ExecutionResult>;
}

/** What log, metrics and traces show of an operation. It refers to no document: a kept reply has it. */
interface OperationLabel {
  readonly type: OperationType;
  /** Chosen by the client, at most 100 characters. Empty if it has none. */
  readonly name: string;
}

/** The part of a resolver's context that execution uses. */
export interface OperationContext extends RunContext {
  caller: Caller;
  requestContext: RequestContext;
}

/** An operation that was executed for a request. */
export interface Executed {
  operation: PreparedOperation;
  requestContext: RequestContext;
  /** The hash or id by which the client requested the document, or the hash of a trusted one; null for other texts. */
  documentId: string | null;
  /** Whether the document is trusted. */
  isTrusted: boolean;
}

interface PreparedOperationOptions {
  schema: GraphQLSchema;
  document: DocumentNode;
  /** These are the same for all operations of the document. */
  fragments: ReadonlyMap<string, FragmentDefinitionNode>;
  cacheScope: CacheScope;
  definition: OperationDefinitionNode;
  compiler: Compiler;
  /** Called when it is compiled. */
  addBytes: (bytes: number) => void;
}

export function createPreparedOperation(options: PreparedOperationOptions): PreparedOperation {
  const { schema, document, definition, fragments, cacheScope } = options;
  const operationName = definition.name?.value;
  const findVariableProblem = createVariableCheck(schema, definition);
  /** Counts executions: the second one lets the operation be compiled. Null until it is. */
  const findCompiled = options.compiler.register({ document, definition, fragments }, options.addBytes);
  /** What subscribers with the same caller and variables have in common, by event. */
  const sharedResults = new WeakMap<object, Map<string, Promise<ExecutionResult>>>();

  return {
    label: labelOperation(definition),
    cacheScope,
    isRepeatable: definition.operation === 'query' && (cacheScope !== 'none' || isAboutSchema(definition)),
    cost: createOperationCost({ schema, operation: definition, fragments }),
    execute: (contextValue, variables, executedSchema = schema) =>
      rejectExpensive(variables) ?? run(contextValue, variables, executedSchema),
    async subscribe(createContext, variableValues) {
      const contextValue = createContext();
      const refusal = rejectExpensive(variableValues);
      if (refusal !== null) return refusal;
      const args = { schema, document, operationName, variableValues };
      const events = await createSourceEventStream({ ...args, contextValue });
      if (!(Symbol.asyncIterator in events)) return rejectSubscription(events.errors ?? []);
      const subscriber = JSON.stringify([contextValue.caller.id, [...contextValue.caller.scopes], variableValues]);
      const executeEvent = async (rootValue: unknown) =>
        execute({ ...args, rootValue, ...resolvedIn(createContext()) });
      return executeEvents(events, subscriber, executeEvent);
    },
  };

  /** Thousands of subscribers may receive the same event: then it is executed once, and they have the same result. */
  async function* executeEvents(
    events: AsyncIterable<unknown>,
    subscriber: string,
    executeEvent: (event: unknown) => Promise<ExecutionResult>,
  ): AsyncGenerator<ExecutionResult> {
    for await (const event of events) {
      const results = sharedResults.get(Object(event)) ?? new Map<string, Promise<ExecutionResult>>();
      const result = results.get(subscriber) ?? executeEvent(event);
      sharedResults.set(Object(event), results.set(subscriber, result));
      yield await result;
    }
  }

  /** Null unless the variables would be too expensive to coerce. */
  function rejectExpensive(variables: Variables): ExecutionResult | null {
    const problem = findVariableProblem(variables);
    return problem === null ? null : { errors: [createRequestError(problem, 'BAD_USER_INPUT')] };
  }

  function run(contextValue: OperationContext, variables: Variables, executedSchema: GraphQLSchema) {
    const result =
      (executedSchema === schema && findCompiled()?.(contextValue, variables)) ||
      interpret(contextValue, variables, executedSchema);
    // A compiled operation reports invalid variables at once; `interpret` has rejected its own.
    return result instanceof Promise || result.data !== undefined ? result : rejectVariables(result.errors ?? []);
  }

  async function interpret(contextValue: OperationContext, variableValues: Variables, executedSchema: GraphQLSchema) {
    const isOpen = contextValue.caller.scopes.has('introspection');
    const schema = isOpen ? executedSchema : withClosedIntrospection(executedSchema);
    const result = await execute({ schema, document, operationName, variableValues, ...resolvedIn(contextValue) });
    return result.data === undefined ? rejectVariables(result.errors ?? []) : result;
  }
}

/** The context and the resolver of fields that have none, as arguments of `execute`. */
function resolvedIn(contextValue: OperationContext) {
  return { contextValue, ...(contextValue.slices !== null && { fieldResolver: resolveInSlices }) };
}

function labelOperation({ operation, name }: OperationDefinitionNode): OperationLabel {
  // A copy of the name: a slice would keep the whole text of the document.
  const text = Buffer.from(name?.value.slice(0, maxNameLength) ?? '').toString();
  return { type: operation, name: text };
}

const maxNameLength = 100;

/** Errors with a path are those of the source of events; others those of the variables. */
function rejectSubscription(errors: readonly GraphQLError[]): ExecutionResult {
  for (const { path, originalError, extensions } of errors) {
    extensions.http = { status: path !== undefined && originalError instanceof StoreError ? 503 : 400 };
  }
  return { errors };
}

function rejectVariables(errors: readonly GraphQLError[]): ExecutionResult {
  for (const { extensions } of errors) extensions.http = { status: 400 };
  return { errors };
}

/** As Yoga formulates it. */
export function createOperationError(): GraphQLError {
  return createRequestError('Could not determine what operation to execute.', 'OPERATION_RESOLUTION_FAILURE');
}

/** Whether an operation only selects `__typename` and introspection fields. */
function isAboutSchema({ selectionSet: { selections } }: OperationDefinitionNode): boolean {
  return selections.every((node) => node.kind === Kind.FIELD && node.name.value.startsWith('__'));
}

/**
 * The same schema for callers without the scope `introspection`: `__schema` and `__type` fail at their paths, as other
 * fields outside a scope do. GraphQL.js resolves both for the query type that the schema names, so the root type is a
 * copy with fields of these names.
 */
function withClosedIntrospection(schema: GraphQLSchema): GraphQLSchema {
  const query = schema.getQueryType();
  const fields = { ...query?.getFields(), ...closedFields };
  const closedQuery: GraphQLObjectType = Object.create(query ?? null, { getFields: { value: () => fields } });
  return Object.create(schema, {
    getRootType: {
      value: (kind: OperationTypeNode) => (kind === OperationTypeNode.QUERY ? closedQuery : schema.getRootType(kind)),
    },
    // Conditions of fragments.
    getType: { value: (name: string) => (name === query?.name ? closedQuery : schema.getType(name)) },
  });
}

const closedFields = Object.fromEntries(
  [SchemaMetaFieldDef, TypeMetaFieldDef].map((field) => [field.name, close(field)]),
);

function close(field: GraphQLField<unknown, unknown>): GraphQLField<unknown, unknown> {
  return { ...field, resolve: () => requireScope({ scopes: new Set() }, 'introspection') };
}

type Resolve = GraphQLFieldResolver<unknown, RunContext>;

/**
 * Changes the resolvers of a schema, so that large operations are completed in time slices. Executors complete all objects without a pause, but wait for those that are
 * promises: when a slice is over, each further object is one. Fields without a resolver get none, so that compiled operations
 * read them directly, of which each item has less than a thousand; in GraphQL.js, they are resolved by `resolveInSlices`.
 */
export function addTimeSlices(schema: GraphQLSchema): void {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue;
    for (const field of Object.values(type.getFields())) {
      if (field.resolve && isCompositeType(getNamedType(field.type))) field.resolve = handOverInSlices(field.resolve);
    }
  }
}

/** The resolver of fields without one, in large operations. */
export const resolveInSlices: Resolve = (source, args, context, info) => {
  const value = defaultFieldResolver(source, args, context, info);
  const isComposite = typeof value === 'object' && isCompositeType(getNamedType(info.returnType));
  return isComposite && context.slices !== null ? inSlices(value, context.slices) : value;
};

function handOverInSlices(resolve: Resolve): Resolve {
  return (source, args, context, info) => {
    const result = resolve(source, args, context, info);
    return context.slices === null ? result : inSlices(result, context.slices);
  };
}

/** @param result an object or a list of objects, an Error in place of one, or a promise */
function inSlices(result: unknown, slices: TimeSlices): unknown {
  if (result instanceof Promise) return result.then((value) => inSlices(value, slices));
  if (Array.isArray(result)) return eachInSlices(result, slices);
  return slices.isOver() && typeof result === 'object' && result !== null ? slices(() => result) : result;
}

/** Executors request an item when they have completed the one before. */
function* eachInSlices(items: readonly unknown[], slices: TimeSlices): Generator<unknown> {
  for (const item of items) yield slices.isOver() ? slices(() => item) : item;
}
