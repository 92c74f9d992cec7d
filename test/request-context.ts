import { createRequestContext, type RequestContext } from '../src/request-context.ts';

/** The context of a caller who waits until the signal aborts. */
export function tRequestContext(signal: AbortSignal = new AbortController().signal): RequestContext {
  return createRequestContext(signal);
}
