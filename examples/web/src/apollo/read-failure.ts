import { CombinedGraphQLErrors, type ErrorLike, ServerError } from '@apollo/client';
import { type Failure, toFailure, toStatusFailure, unreachable } from '../failure.ts';

export function readFailure(error: ErrorLike | undefined): Failure | null {
  if (!error) return null;
  if (ServerError.is(error)) return toStatusFailure(error.statusCode);
  const first = CombinedGraphQLErrors.is(error) ? error.errors[0] : undefined;
  return first ? toFailure(first) : unreachable;
}

/** The failures of a list by index, which each error's path contains. */
export function readFailuresByIndex(error: ErrorLike | undefined): Map<number, Failure> {
  const errors = CombinedGraphQLErrors.is(error) ? error.errors : [];
  return new Map(errors.map(({ path, ...rest }) => [Number(path?.[1]), toFailure(rest)]));
}
