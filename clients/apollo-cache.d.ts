import type { ApolloLink, InMemoryCacheConfig } from '@apollo/client';

export declare const cacheOptions: Pick<InMemoryCacheConfig, 'possibleTypes' | 'typePolicies'>;
export declare const failureLink: ApolloLink;
