import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { cacheOptions, failureLink } from '../../../../clients/apollo-cache.js';

export function createApolloClient() {
  return new ApolloClient({
    link: failureLink.concat(new HttpLink({ uri: '/graphql' })),
    cache: new InMemoryCache(cacheOptions),
  });
}
