import type { Plugin } from 'graphql-yoga';
import type { RequestContext } from '../../request-context.ts';

/** A request with this header, whatever its value, is told in `extensions.cost` what its answer cost. */
export const costHeader = 'x-cost';

/** Tells who asks for it how many look-ups, cache hits and upstream calls an operation took. */
export function useCost(): Plugin<{ requestContext: RequestContext }> {
  return {
    onExecute({ args: { contextValue } }) {
      if (!contextValue.request.headers.has(costHeader)) return;
      return {
        onExecuteDone({ result, setResult }) {
          // Subscriptions and incremental delivery, of which there are none, would come piece by piece.
          if (Symbol.asyncIterator in result) return;
          setResult({
            ...result,
            extensions: { ...result.extensions, cost: { ...contextValue.requestContext.usage } },
          });
        },
      };
    },
  };
}
