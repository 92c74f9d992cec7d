import { Client, cacheExchange, fetchExchange, mapExchange, type OperationResult } from 'urql';

export function createUrqlClient() {
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetchSubscriptions: true,
    exchanges: [cacheExchange, mapExchange({ onResult: dropFailed }), fetchExchange],
  });
}

/** The cache stores every result with data. Removes data without any answer because of errors, so that it is refetched. */
function dropFailed(result: OperationResult): OperationResult {
  const isEmpty = Object.values(result.data ?? {}).every(
    (field) => field === null || field === 'Query' || (field as { valid?: unknown }).valid === null,
  );
  return result.error && isEmpty ? { ...result, data: undefined } : result;
}
