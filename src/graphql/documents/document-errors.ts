import { type DocumentNode, GraphQLError } from 'graphql';

/** The document with errors, and without operations. */
export function rejectDocument(
  document: DocumentNode | null,
  errors: readonly GraphQLError[],
  code: 'GRAPHQL_PARSE_FAILED' | 'GRAPHQL_VALIDATION_FAILED' | 'QUERY_NOT_IN_SAFELIST',
) {
  for (const { extensions } of errors) {
    extensions.code ??= code;
    extensions.http = { status: 400 };
  }
  return {
    trust: { trustedId: null },
    document,
    errors,
    operation() {
      throw errors[0];
    },
  };
}

/** As Yoga formulates it. */
export function createOperationError(): GraphQLError {
  const extensions = { code: 'OPERATION_RESOLUTION_FAILURE', http: { status: 400 } };
  return new GraphQLError('Could not determine what operation to execute.', { extensions });
}
