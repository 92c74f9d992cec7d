import {
  type ExecutionResult,
  GraphQLError,
  type GraphQLOutputType,
  getNullableType,
  isListType,
  isNonNullType,
  type SourceLocation,
} from 'graphql';

/** The types of fields by their places in a document, and by those of their arguments. */
export type FieldTypes = ReadonlyMap<string, GraphQLOutputType>;

/** A place as a key. */
export function keyOfLocation({ line, column }: SourceLocation): string {
  return `${line}:${column}`;
}

/** Adapts the errors of graphql-jit: the same errors as of GraphQL.js. */
export function adaptErrors(result: ExecutionResult, types: FieldTypes): ExecutionResult {
  const { data, errors } = result;
  if (errors === undefined) return result;
  const nulls = new Set<string>();
  const reported = errors.filter((error) => {
    const { size } = nulls;
    // Several fields that must not be null can fail in one object, which becomes null because of the first.
    return !isPropagated(error, types) || nulls.add(findNull(data, error.path ?? [])).size > size;
  });
  return { ...result, errors: reported.map(markFault) };
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

/** GraphQL.js wraps faults of the server in an `originalError`, as it does errors of resolvers; graphql-jit does not. */
function markFault(error: GraphQLError): GraphQLError {
  if (error.originalError || error.message.startsWith('Argument "')) return error;
  const { message, path, locations } = error;
  const fault = new GraphQLError(message, { path: path ?? null, originalError: new Error(message) });
  return Object.assign(fault, { locations });
}
