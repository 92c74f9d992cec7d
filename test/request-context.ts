import { createRequestContext, type RequestContext } from '../src/request-context.ts';

/** Somebody who waits until told otherwise. */
export function tCaller(signal: AbortSignal = new AbortController().signal): RequestContext {
  return createRequestContext(signal);
}
