import { AbortableSignal, type Signal } from '../../src/base/async/signal.ts';
import { createRequestContext, type RequestContext } from '../../src/gateway/request-context.ts';

/** The context of a caller who waits until the signal aborts. */
export function tRequestContext(signal: Signal = new AbortableSignal()): RequestContext {
  return createRequestContext(signal);
}
