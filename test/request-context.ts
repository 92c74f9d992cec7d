import { createRequestContext, type RequestContext } from '../src/request-context.ts';

export function tRequestContext(signal = new AbortController().signal): RequestContext {
  return createRequestContext(signal);
}
