import { type Caller, createCaller } from '../src/caller.ts';

/** Somebody who waits until told otherwise. */
export function tCaller(signal: AbortSignal = new AbortController().signal): Caller {
  return createCaller(signal);
}
