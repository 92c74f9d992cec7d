/** Why an operation failed, for the user. */
export interface Failure {
  message: string;
  /** Whether the same operation may succeed if sent again. */
  isRetryable: boolean;
}

/** There was no GraphQL response: the gateway or the network is down. */
export const unreachable: Failure = { message: 'The gateway cannot be reached.', isRetryable: true };

/** There was a response, but not of GraphQL: of a proxy before the gateway, or of an address that is not the gateway. */
export function toStatusFailure(status: number): Failure {
  if (status >= 502) return unreachable;
  return { message: `The gateway cannot be used: the response has status ${status}.`, isRetryable: status === 429 };
}

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
