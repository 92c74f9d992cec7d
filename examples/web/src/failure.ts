/** A question that was not answered, in words for the one who asked. */
export interface Failure {
  message: string;
  /** Whether the same question may be answered when it is asked again. */
  isRetryable: boolean;
}

/** Nothing came back that GraphQL could have sent: the gateway is down, or the way to it. */
export const unreachable: Failure = { message: 'The gateway cannot be reached.', isRetryable: true };

interface GraphQLFailure {
  message: string;
  extensions?: { [name: string]: unknown } | undefined;
}

/** By what the gateway tells of every error: a sentence for people, and whether asking again may help. */
export function toFailure({ message, extensions }: GraphQLFailure): Failure {
  return { message, isRetryable: extensions?.retryable === true };
}
