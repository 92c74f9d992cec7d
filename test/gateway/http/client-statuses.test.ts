import { ApolloClient, CombinedGraphQLErrors, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { buildHTTPExecutor } from '@graphql-tools/executor-http';
import { Client, type CombinedError, fetchExchange } from '@urql/core';
import { persistedExchange } from '@urql/exchange-persisted';

import { type ExecutionResult, parse } from 'graphql';
import { ClientError, GraphQLClient } from 'graphql-request';
import { describe, expect, it, onTestFinished } from 'vitest';
import { sha256 } from '../../support/gateway/callers.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { replyFailingFor, replyWithIban, tUpstream } from '../../support/scripted-upstream.ts';

/* The statuses of GraphQL over HTTP, September 2026, in real clients: each prefers application/graphql-response+json. */

/** What a client passes on of a response. */
interface Outcome {
  data: unknown;
  codes: unknown[];
}

type Ask = (query: string, variables?: Record<string, unknown>) => Promise<Outcome>;
type CreateAsk = (url: string, fetch: typeof globalThis.fetch) => Ask;

const codesOf = (errors: readonly { extensions?: Record<string, unknown> | undefined }[] = []) =>
  errors.map(({ extensions }) => extensions?.code);

const createApollo: CreateAsk = (uri, fetch) => {
  const client = new ApolloClient({ link: new HttpLink({ uri, fetch }), cache: new InMemoryCache() });
  onTestFinished(() => client.stop());
  return async (query, variables = {}) => {
    const { data, error } = await client.query({ query: gql(query), variables, errorPolicy: 'all' });
    if (error !== undefined && !CombinedGraphQLErrors.is(error)) throw error;
    return { data: data ?? null, codes: codesOf(error?.errors) };
  };
};

const createUrql: CreateAsk = (url, fetch) => {
  const client = new Client({ url, fetch, exchanges: [fetchExchange], preferGetMethod: false });
  return async (query, variables = {}) => {
    const { data, error } = await client.query(query, variables);
    return { data: data ?? null, codes: codesOf((error as CombinedError | undefined)?.graphQLErrors) };
  };
};

const createGraphqlRequest: CreateAsk = (url, fetch) => {
  const accept = 'application/graphql-response+json, application/json;q=0.9';
  const client = new GraphQLClient(url, { fetch, errorPolicy: 'all', headers: { accept } });
  return async (query, variables = {}) => {
    try {
      const { data, errors } = await client.rawRequest(query, variables);
      return { data: data ?? null, codes: codesOf(errors) };
    } catch (error) {
      if (error instanceof ClientError) return { data: null, codes: codesOf(error.response.errors) };
      throw error;
    }
  };
};

/** It is not in its runtime, whose transport is that of examples/supergraph. */
const createHive: CreateAsk = (endpoint, fetch) => {
  const execute = buildHTTPExecutor({ endpoint, fetch: fetch as never });
  return async (query, variables = {}) => {
    const { data, errors } = (await execute({ document: parse(query), variables })) as ExecutionResult;
    return { data: data ?? null, codes: codesOf(errors) };
  };
};

const clients = [
  ['Apollo Client', createApollo],
  ['urql', createUrql],
  ['graphql-request', createGraphqlRequest],
  ['the HTTP executor of Hive Gateway', createHive],
] as const;

/** Of two IBANs, the look-up of the second fails. */
async function tStatuses() {
  const failing = 'DE44500105175407324931';
  const upstream = await tUpstream(replyFailingFor(failing, replyWithIban));
  const { url } = await tListeningGateway({}, upstream);
  const statuses: number[] = [];
  const spy: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    expect(response.headers.get('content-type')).toContain('application/graphql-response+json');
    statuses.push(response.status);
    return response;
  };
  return { url, spy, statuses, ibans: ['DE89370400440532013000', failing] };
}

describe.each(clients)('%s', (_, createAsk) => {
  it('passes on partial data and its errors, with status 294', async () => {
    const { url, spy, statuses, ibans } = await tStatuses();
    const ask = createAsk(url, spy);
    const query = 'query Check($ibans: [String!]!) { ibanValidations(ibans: $ibans) { iban valid } }';
    const { data, codes } = await ask(query, { ibans });
    expect(data).toMatchObject({
      ibanValidations: [
        { iban: ibans[0], valid: true },
        { iban: ibans[1], valid: null },
      ],
    });
    expect(codes).toEqual(['UPSTREAM_FAILED']);
    expect(statuses).toEqual([294]);
  });

  it('passes on the errors of a request that is not executed, with status 400', async () => {
    const { url, spy, statuses } = await tStatuses();
    const { data, codes } = await createAsk(url, spy)('{ nothing }');
    expect({ data, codes, statuses }).toEqual({ data: null, codes: ['GRAPHQL_VALIDATION_FAILED'], statuses: [400] });
  });
});

describe('an unknown persisted query, with status 422,', () => {
  const query = 'query Name($code: String!) { country(code: $code) { name } }';
  const variables = { code: 'FR' };

  it('is sent with its text by Apollo Client', async () => {
    const { url, spy, statuses } = await tStatuses();
    const link = new PersistedQueryLink({ sha256 }).concat(new HttpLink({ uri: url, fetch: spy }));
    const client = new ApolloClient({ link, cache: new InMemoryCache() });
    onTestFinished(() => client.stop());
    for (const code of ['FR', 'DE']) await client.query({ query: gql(query), variables: { code } });
    const { data } = await client.query({ query: gql(query), variables });
    expect(data).toMatchObject({ country: { name: 'France' } });
    expect(statuses).toEqual([422, 200, 200]);
  });

  it('is sent with its text by urql', async () => {
    const { url, spy, statuses } = await tStatuses();
    const exchanges = [
      persistedExchange({ generateHash: async (text) => sha256(text), preferGetForPersistedQueries: false }),
      fetchExchange,
    ];
    const client = new Client({ url, fetch: spy, exchanges, preferGetMethod: false });
    for (const code of ['FR', 'DE']) {
      const { data } = await client.query(query, { code });
      expect(data.country.name).toBe(code === 'FR' ? 'France' : 'Germany');
    }
    expect(statuses).toEqual([422, 200, 200]);
  });
});
