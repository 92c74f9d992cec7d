import type { CombinedError } from 'urql';
import { type Failure, toFailure, unreachable } from '../failure.ts';

export function readFailure(error: CombinedError | undefined): Failure | null {
  if (!error) return null;
  const [first] = error.graphQLErrors;
  return first ? toFailure(first) : unreachable;
}

/** The failures in a list, by the place that each one's path names. */
export function readFailuresByPlace(error: CombinedError | undefined): Map<number, Failure> {
  return new Map(error?.graphQLErrors.map((each) => [Number(each.path?.[1]), toFailure(each)]));
}
