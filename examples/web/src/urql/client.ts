import { cacheExchange } from '@urql/exchange-graphcache';
import { Client, fetchExchange } from 'urql';
import { cacheOptions } from '../../../../clients/graphcache.js';

export function createUrqlClient() {
  return new Client({
    url: '/graphql',
    preferGetMethod: false,
    fetchSubscriptions: true,
    exchanges: [cacheExchange(cacheOptions), fetchExchange],
  });
}
