import type { Plugin } from 'graphql-yoga';
import type { RequestContext } from '../../request-context.ts';

/** A request with this header, of any value, gets `extensions.cost`. */
export const costHeader = 'x-cost';

/**
 * Adds the numbers of look-ups, cache hits and upstream calls to the response. Cost means these counts, not money. They
 * show whether an IBAN was looked up before, so only a configured gateway exposes them.
 */
export function useCost(): Plugin<{ requestContext: RequestContext }> {
  return {
    onExecute({ args: { contextValue } }) {
      if (!contextValue.request.headers.has(costHeader)) return;
      return {
        onExecuteDone({ result, setResult }) {
          // Only subscriptions and incremental delivery, which the schema does not have, are iterable.
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
