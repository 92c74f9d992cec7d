import { Client, cacheExchange, fetchExchange, mapExchange, type OperationResult } from 'urql';

export function createUrqlClient() {
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    exchanges: [cacheExchange, mapExchange({ onResult: forgetFailed }), fetchExchange],
  });
}

/** The cache keeps whatever has data; where an error left nothing but nulls, the same is to be asked anew. */
function forgetFailed(result: OperationResult): OperationResult {
  const isEmpty = Object.values(result.data ?? {}).every((field) => field === null || field === 'Query');
  return result.error && isEmpty ? { ...result, data: undefined } : result;
}
