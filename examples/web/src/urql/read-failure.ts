import type { CombinedError } from 'urql';
import { type Failure, toFailure, unreachable } from '../failure.ts';

export function readFailure(error: CombinedError | undefined): Failure | null {
  if (!error) return null;
  const [first] = error.graphQLErrors;
  return first ? toFailure(first) : unreachable;
}

/** The failures of a list by index, which each error's path contains. */
export function readFailuresByIndex(error: CombinedError | undefined): Map<number, Failure> {
  return new Map(error?.graphQLErrors.map((each) => [Number(each.path?.[1]), toFailure(each)]));
}
