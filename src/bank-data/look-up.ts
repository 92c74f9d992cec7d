import type { RequestContext } from '../request-context.ts';
import type { TimedAnswer } from './shared-cache.ts';

/** A look-up that the cache may answer. */
export interface LookUp<Answer> {
  key: string;
  context: RequestContext;
  /**
   * Receives the flight as its context, which several requests may wait for. If it rejects, nothing is cached, and a
   * stale answer is served if there is one.
   */
  lookUp: (flightContext: RequestContext) => PromiseLike<Answer>;
  /** Whether the answer has the shorter time to live of a negative answer. */
  isNegative(answer: NoInfer<Answer>): boolean;
}

export interface LookUpResult {
  entry: TimedAnswer;
  /** False if it was looked up at the service. */
  isHit: boolean;
}
