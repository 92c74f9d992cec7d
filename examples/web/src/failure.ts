/** Why an operation failed, for the user. */
export interface Failure {
  message: string;
  /** Whether the same operation may succeed if sent again. */
  isRetryable: boolean;
}

/** There was no GraphQL response: the gateway or the network is down. */
export const unreachable: Failure = { message: 'The gateway cannot be reached.', isRetryable: true };

/** The look-up of one IBAN of a list failed, and its error is not known any more. */
export const unknownFailure: Failure = { message: 'The look-up failed.', isRetryable: true };

interface GraphQLFailure {
  message: string;
  extensions?: { [name: string]: unknown } | undefined;
}

/** Reads the gateway's message and `extensions.retryable`. */
export function toFailure({ message, extensions }: GraphQLFailure): Failure {
  return { message, isRetryable: extensions?.retryable === true };
}
