import type { RequestContext } from '../request-context.ts';

/** Answers each key on its own: a failure is an error in its place. Only a caller who gave up ends the whole list. */
export function settleEach<Key, Answer>(
  keys: readonly Key[],
  { signal }: RequestContext,
  find: (key: Key) => Promise<Answer>,
): Promise<(Answer | Error)[]> {
  const settle = (error: Error) => {
    signal.throwIfAborted();
    return error;
  };
  return Promise.all(keys.map((key) => find(key).catch(settle)));
}
