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
  responsePathAsArray,
} from 'graphql';
import type { Redact } from '../../../base/redact.ts';
import { locate } from '../documents/document-errors.ts';
import type { OperationContext, PreparedOperation } from '../documents/operation.ts';
import { describeFailure } from './present-error.ts';

type Variables = Readonly<Record<string, unknown>>;

interface InlineTracesOptions {
  schema: GraphQLSchema;
  redact: Redact;
  /** Cost of the largest operation whose fields are traced. */
  maxCost: number;
}

/** Starts the trace of a request. */
export type StartInlineTrace = ReturnType<typeof createInlineTraces>;
export type InlineTrace = ReturnType<StartInlineTrace>;

/**
 * Traces for routers: the duration and errors of each field in `extensions.ftv1`
 * (https://www.apollographql.com/docs/federation/metrics). Errors are those that clients see. The trace of a large
 * operation has no fields. Traced operations are executed with a copy of the schema, so that others run without timers.
 */
export function createInlineTraces({ schema, redact, maxCost }: InlineTracesOptions) {
  const timedSchema = withTimers(schema);

  return () => {
    const fields = new FieldTraces();
    const startTime = createTimestamp();
    return {
      execute(operation: PreparedOperation, context: OperationContext, variables: Variables, cost: number) {
        if (cost > maxCost) return operation.execute(context, variables);
        const timedContext: TimedContext = { ...context, fieldTraces: fields };
        return operation.execute(timedContext, variables, timedSchema);
      },
      /** The same result with the trace in its extensions. */
      addTo(result: ExecutionResult): ExecutionResult {
        for (const error of result.errors?.slice(0, maxTracedErrors) ?? []) fields.addError(error, redact);
        const [durationNs, endTime] = [fields.elapsedNs(), createTimestamp()];
        const trace = new Trace({ root: fields.root, fieldExecutionWeight: 1, startTime, endTime, durationNs });
        const ftv1 = Buffer.from(Trace.encode(trace).finish()).toString('base64');
        return { ...result, extensions: { ...result.extensions, ftv1 } };
      },
    };
  };
}

/** The fields of one request that were resolved. */
class FieldTraces {
  readonly root = new Trace.Node();
  /** The nodes of fields by their paths, such as `ibanValidations.0.valid`. */
  readonly #nodes = new Map([['', this.root]]);
  readonly #startedAt = performance.now();

  elapsedNs(): number {
    return Math.round((performance.now() - this.#startedAt) * 1e6);
  }

  /** Called before the resolver of a field. */
  start({ path, fieldName, returnType, parentType }: GraphQLResolveInfo): Trace.Node {
    const node = this.#nodeAt(path);
    node.type = String(returnType);
    node.parentType = parentType.name;
    if (path.key !== fieldName) node.originalFieldName = fieldName;
    node.startTime = this.elapsedNs();
    return node;
  }

  #nodeAt(path: ResponsePath | undefined): Trace.Node {
    const key = responsePathAsArray(path).join('.');
    const known = this.#nodes.get(key);
    if (known !== undefined || path === undefined) return known ?? this.root;
    const node = new Trace.Node(typeof path.key === 'number' ? { index: path.key } : { responseName: path.key });
    this.#nodes.set(key, node);
    this.#nodeAt(path.prev).child.push(node);
    return node;
  }

  /** Adds an error to the nearest field that was resolved. */
  addError(error: GraphQLError, redact: Redact): void {
    const { path = [] } = error;
    const lengths = path.map((_, index) => path.length - index);
    const length = lengths.find((length) => this.#nodes.has(path.slice(0, length).join('.'))) ?? 0;
    // Routers pass traces on: they need no names that the request does not contain.
    const { message, extensions } = describeFailure(error, { hidesSuggestions: true, redact });
    const json = JSON.stringify({ message, ...(length > 0 && { path }), extensions });
    const node = this.#nodes.get(path.slice(0, length).join('.'));
    node?.error.push(new Trace.Error({ message, location: [...(locate(error) ?? [])], json }));
  }
}

/** A trace is written in one go. */
const maxTracedErrors = 100;

function createTimestamp(): google.protobuf.Timestamp {
  const ms = Date.now();
  return new google.protobuf.Timestamp({ seconds: Math.floor(ms / 1_000), nanos: (ms % 1_000) * 1e6 });
}

type TimedContext = OperationContext & { fieldTraces: FieldTraces };
type Resolve = GraphQLFieldResolver<unknown, TimedContext>;

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
    const { fieldTraces } = context;
    const node = fieldTraces.start(info);
    const end = () => {
      node.endTime = fieldTraces.elapsedNs();
    };
    let result: unknown;
    try {
      result = resolve(source, args, context, info);
    } finally {
      end();
    }
    // Overwrites the time at which the promise was returned.
    return result instanceof Promise ? result.finally(end) : result;
  };
}
