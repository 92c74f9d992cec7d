import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { Client, type CombinedError, fetchExchange } from '@urql/core';
import { cacheExchange } from '@urql/exchange-graphcache';
import { onTestFinished } from 'vitest';
import { cacheOptions as apolloOptions, failureLink } from '../../../clients/apollo-cache.js';
import { cacheOptions as graphcacheOptions } from '../../../clients/graphcache.js';

type Fetch = typeof globalThis.fetch;

const errorPolicy = 'all';
type Variables = Record<string, unknown>;

interface Result<Data = unknown> {
  data: Data;
  codes: unknown[];
}

/** A client with its cache, as the documentation describes it. */
export interface TClient {
  /** @typeParam Data what the query selects */
  ask<Data = unknown>(query: string, variables?: Variables): Promise<Result<Data>>;
  /** Asks for a further page, with these variables in place of those of the first. */
  loadMore<Data = unknown>(query: string, first: Variables, variables: Variables): Promise<Result<Data>>;
  /** Asks, and calls the function with each result until the test ends. */
  watch(query: string, variables: Variables, onResult: (result: Result) => void): void;
}

const codesOf = (errors: readonly { extensions?: Record<string, unknown> | undefined }[] = []) =>
  errors.map(({ extensions }) => extensions?.code);

function createApollo(fetch: Fetch): TClient {
  const client = new ApolloClient({
    link: failureLink.concat(new HttpLink({ uri: 'http://gateway/graphql', fetch })),
    cache: new InMemoryCache(apolloOptions),
  });
  onTestFinished(() => client.stop());
  const read = <Data>({ data, error }: { data?: unknown; error?: unknown }): Result<Data> => {
    if (error !== undefined && !CombinedGraphQLErrors.is(error)) throw error;
    return { data: data as Data, codes: codesOf(error?.errors) };
  };
  return {
    ask: async (query, variables = {}) => read(await client.query({ query: gql(query), variables, errorPolicy })),
    loadMore: async (query, first, variables) =>
      read(await client.watchQuery({ query: gql(query), variables: first }).fetchMore({ variables })),
    watch(query, variables, onResult) {
      const results = client.watchQuery({ query: gql(query), variables, errorPolicy });
      const subscription = results.subscribe((result) => {
        if (!result.loading) onResult(read(result));
      });
      onTestFinished(() => subscription.unsubscribe());
    },
  };
}

function createUrql(fetch: Fetch): TClient {
  const client = new Client({
    url: 'http://gateway/graphql',
    fetch,
    exchanges: [cacheExchange(graphcacheOptions), fetchExchange],
    preferGetMethod: false,
  });
  const read = <Data>({ data, error }: { data?: unknown; error?: CombinedError | undefined }): Result<Data> => {
    if (error?.networkError) throw error.networkError;
    return { data: data as Data, codes: codesOf(error?.graphQLErrors) };
  };
  return {
    ask: async (query, variables = {}) => read(await client.query(query, variables)),
    loadMore: async (query, first, variables) => read(await client.query(query, { ...first, ...variables })),
    watch(query, variables, onResult) {
      const subscription = client.query(query, variables).subscribe((result) => onResult(read(result)));
      onTestFinished(() => subscription.unsubscribe());
    },
  };
}

/** The clients, and aliases under which they must not take another field for the key. Graphcache has each `id` of a response for it. */
export const cachingClients = [
  ['Apollo Client', createApollo, ['other', 'iban', 'code', 'bic', 'nodes', 'id']],
  ['urql with Graphcache', createUrql, ['other', 'iban', 'code', 'bic', 'nodes']],
] as const;
