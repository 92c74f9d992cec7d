import { google, Trace } from '@apollo/usage-reporting-protobuf';
import {
  defaultFieldResolver,
  type ExecutionResult,
  type GraphQLError,
  type GraphQLFieldResolver,
  type GraphQLResolveInfo,
  type GraphQLSchema,
  isIntrospectionType,
  isObjectType,
  lexicographicSortSchema,
  type ResponsePath,
} from 'graphql';
import type { Redact } from '../../telemetry/redact.ts';
import type { OperationContext, PreparedOperation } from '../documents/operation.ts';
import { locate } from '../documents/source.ts';
import { describeFailure, maxErrors } from './present-error.ts';

interface InlineTraceOptions {
  schema: GraphQLSchema;
  redact: Redact;
  /** Cost of the largest operation whose fields are traced. */
  maxCost: number;
}

export type StartInlineTrace = () => InlineTrace;

/**
 * Traces for routers: the duration and errors of each field in `extensions.ftv1`
 * (https://www.apollographql.com/docs/federation/metrics). Errors are those that clients see. The trace of a large
 * operation has no fields. Traced operations are executed with a copy of the schema, so that others run without timers.
 */
export function createInlineTraces({ schema, redact, maxCost }: InlineTraceOptions): StartInlineTrace {
  const timedSchema = withTimers(schema);
  return () => new InlineTrace(timedSchema, redact, maxCost);
}

/** The trace of one request. */
export class InlineTrace {
  readonly #timedSchema: GraphQLSchema;
  readonly #redact: Redact;
  readonly #maxCost: number;
  readonly #startedAt = performance.now();
  readonly #root = new Trace.Node();
  readonly #trace = new Trace({ root: this.#root, fieldExecutionWeight: 1, startTime: now() });
  /** By their paths, such as `ibanValidations.0.valid`. */
  readonly #nodes = new Map([['', this.#root]]);

  constructor(timedSchema: GraphQLSchema, redact: Redact, maxCost: number) {
    this.#timedSchema = timedSchema;
    this.#redact = redact;
    this.#maxCost = maxCost;
  }

  execute(operation: PreparedOperation, context: OperationContext, variables: Readonly<Record<string, unknown>>) {
    if (operation.cost(variables) > this.#maxCost) return operation.execute(context, variables);
    const timedContext: TimedContext = { ...context, inlineTrace: this };
    return operation.execute(timedContext, variables, this.#timedSchema);
  }

  /** Called before the resolver of a field. @returns a function to call after it */
  startField({ path, fieldName, returnType, parentType }: GraphQLResolveInfo): () => void {
    const node = this.#addNode(path);
    node.type = String(returnType);
    node.parentType = parentType.name;
    if (path.key !== fieldName) node.originalFieldName = fieldName;
    node.startTime = this.#elapsedNs();
    return () => {
      node.endTime = this.#elapsedNs();
    };
  }

  /** The same result with the trace in its extensions. */
  addTo(result: ExecutionResult): ExecutionResult {
    for (const error of result.errors?.slice(0, maxErrors) ?? []) this.#addError(error);
    this.#trace.durationNs = this.#elapsedNs();
    this.#trace.endTime = now();
    const ftv1 = Buffer.from(Trace.encode(this.#trace).finish()).toString('base64');
    return { ...result, extensions: { ...result.extensions, ftv1 } };
  }

  #addNode(path: ResponsePath): Trace.Node {
    const key = keyOf(path);
    const known = this.#nodes.get(key);
    if (known !== undefined) return known;
    const node = new Trace.Node(typeof path.key === 'number' ? { index: path.key } : { responseName: path.key });
    this.#nodes.set(key, node);
    const parent = path.prev === undefined ? this.#root : this.#addNode(path.prev);
    parent.child.push(node);
    return node;
  }

  /** Adds an error to the nearest field that was resolved. */
  #addError(error: GraphQLError): void {
    const { path = [] } = error;
    let depth = path.length;
    while (!this.#nodes.has(path.slice(0, depth).join('.'))) depth -= 1;
    // Routers pass traces on: they need no names that the request does not contain.
    const { message, extensions } = describeFailure(error, { hidesSuggestions: true, redact: this.#redact });
    const json = JSON.stringify({ message, ...(depth > 0 && { path }), extensions });
    const node = this.#nodes.get(path.slice(0, depth).join('.'));
    node?.error.push(new Trace.Error({ message, location: [...(locate(error) ?? [])], json }));
  }

  #elapsedNs(): number {
    return Math.round((performance.now() - this.#startedAt) * 1e6);
  }
}

function keyOf({ prev, key }: ResponsePath): string {
  return prev === undefined ? String(key) : `${keyOf(prev)}.${key}`;
}

function now(): google.protobuf.Timestamp {
  const ms = Date.now();
  return new google.protobuf.Timestamp({ seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1e6 });
}

/** A copy of the schema with a timer around each resolver. Sorting copies the fields; other functions share them. */
function withTimers(schema: GraphQLSchema): GraphQLSchema {
  const copy = lexicographicSortSchema(schema);
  for (const type of Object.values(copy.getTypeMap())) {
    if (!isObjectType(type) || isIntrospectionType(type)) continue;
    for (const field of Object.values(type.getFields()))
      field.resolve = withTimer(field.resolve ?? defaultFieldResolver);
  }
  return copy;
}

function withTimer(resolve: Resolve): Resolve {
  return (source, args, context, info) => {
    const end = context.inlineTrace.startField(info);
    let isPending = false;
    try {
      const result = resolve(source, args, context, info);
      isPending = result instanceof Promise;
      return result instanceof Promise ? result.finally(end) : result;
    } finally {
      if (!isPending) end();
    }
  };
}

type Resolve = GraphQLFieldResolver<unknown, TimedContext>;
type TimedContext = OperationContext & { inlineTrace: InlineTrace };
