import type { CombinedError } from 'urql';
import { type Failure, toFailure, toStatusFailure, unreachable } from '../failure.ts';

export function readFailure(error: CombinedError | undefined): Failure | null {
  if (!error) return null;
  const [first] = error.graphQLErrors;
  if (first) return toFailure(first);
  const { status = 0 } = (error.response ?? {}) as Partial<Response>;
  return status >= 400 ? toStatusFailure(status) : unreachable;
}

/** The failures of a list by index, which each error's path contains. */
export function readFailuresByIndex(error: CombinedError | undefined): Map<number, Failure> {
  return new Map(error?.graphQLErrors.map((each) => [Number(each.path?.[1]), toFailure(each)]));
}
