import { GraphQLError, getOperationAST, graphql, validate } from 'graphql';
import { GatewayError, internalErrorMessage } from '../../../src/base/errors.ts';
import { createRedact } from '../../../src/base/redact.ts';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { parseOrNull } from '../gateway/graphql/literals.ts';
import { tContext } from '../gateway/graphql/outcomes.ts';
import type { RandomRequest } from '../gateway/graphql/random-documents.ts';

/** What a client receives, without request ids. Errors are sorted: their order is that in which look-ups fail. */
export interface ReceivedAnswer {
  status: number;
  data: string | undefined;
  errors: readonly string[];
}

export interface ExpectedAnswer extends ReceivedAnswer {
  kind: 'syntax error' | 'unknown operation' | 'validation error' | 'variable error' | 'data' | 'data with errors';
}

interface ShownError {
  message: string;
  code: unknown;
  path: readonly (string | number)[] | null;
  locations: readonly object[] | null;
}

export function describeError({ message, code, path, locations }: ShownError): string {
  return JSON.stringify({ message, code, path, locations });
}

/** The answer of GraphQL.js, as a POST that accepts application/json should receive it. */
export async function askGraphqlJs({ query, variables, operationName }: RandomRequest): Promise<ExpectedAnswer> {
  const options = { schema, source: query, variableValues: variables, operationName, contextValue: tContext() };
  const { data, errors = [] } = await graphql(options);
  const document = parseOrNull(query);
  const refuse = (kind: ExpectedAnswer['kind'], code: string): ExpectedAnswer => {
    return { kind, status: 200, data: undefined, errors: errors.map((error) => describeRefusal(error, code)).sort() };
  };
  if (document === null) return refuse('syntax error', 'GRAPHQL_PARSE_FAILED');
  const operation = getOperationAST(document, operationName);
  if (!operation) return unknownOperation;
  if (validate(schema, document).length > 0) return refuse('validation error', 'GRAPHQL_VALIDATION_FAILED');
  // GraphQL.js has data here, although it has executed nothing.
  if (operation.operation === 'subscription') return refuse('unknown operation', 'BAD_USER_INPUT');
  if (data === undefined) return refuse('variable error', 'BAD_USER_INPUT');
  const kind = errors.length > 0 ? 'data with errors' : 'data';
  return { kind, status: 200, data: JSON.stringify(data), errors: errors.map(describeFailed).sort() };
}

/** Yoga words it in another way, and reports it before errors of validation. */
const unknownOperation: ExpectedAnswer = {
  kind: 'unknown operation',
  status: 400,
  data: undefined,
  errors: [
    describeError({
      message: 'Could not determine what operation to execute.',
      code: 'OPERATION_RESOLUTION_FAILURE',
      path: null,
      locations: null,
    }),
  ],
};

function describeRefusal({ message, locations }: GraphQLError, code: string): string {
  return describeError({ message: shorten(message), code, path: null, locations: locations?.slice(0, 10) ?? null });
}

/** Failures of services have their own codes, and faults of the gateway have a message without details. */
function describeFailed({ message, path, locations, originalError }: GraphQLError): string {
  const place = { path: path ?? null, locations: locations?.slice(0, 10) ?? null };
  if (originalError instanceof GatewayError)
    return describeError({ message: originalError.message, code: originalError.code, ...place });
  const isAboutArgument = originalError instanceof GraphQLError && originalError.nodes !== undefined;
  if (originalError && !isAboutArgument)
    return describeError({ message: internalErrorMessage, code: 'INTERNAL_SERVER_ERROR', ...place });
  return describeError({ message: shorten(message), code: 'BAD_USER_INPUT', ...place });
}

/** Messages contain no IBAN, and at most 1,000 characters. */
function shorten(message: string): string {
  return redact(message).slice(0, 1_000);
}

const redact = createRedact([]);
