import { CombinedGraphQLErrors, type ErrorLike } from '@apollo/client';
import { type Failure, toFailure, unreachable } from '../failure.ts';

export function readFailure(error: ErrorLike | undefined): Failure | null {
  if (!error) return null;
  const first = CombinedGraphQLErrors.is(error) ? error.errors[0] : undefined;
  return first ? toFailure(first) : unreachable;
}

/** The failures in a list, by the place that each one's path names. */
export function readFailuresByPlace(error: ErrorLike | undefined): Map<number, Failure> {
  const errors = CombinedGraphQLErrors.is(error) ? error.errors : [];
  return new Map(errors.map(({ path, ...rest }) => [Number(path?.[1]), toFailure(rest)]));
}
