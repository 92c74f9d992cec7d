import { createHash } from 'node:crypto';
import { ApolloClient, gql, HttpLink, InMemoryCache } from '@apollo/client';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { expect, it } from 'vitest';
import { tListeningGateway, tSend } from '../support/http/listening-gateway.ts';

const page = 'https://shop.example';

it('supports persisted queries by GET from Apollo Client on a page of a configured origin', async () => {
  const { url } = await tListeningGateway({ CORS_ORIGINS: page });
  const requests: string[] = [];
  /** Sends a preflight and the request, as a browser does for a page of that origin. */
  const fetchFromPage = async (target: string | URL | Request, { method = 'GET', headers, body }: RequestInit = {}) => {
    const sentHeaders = Object.fromEntries(new Headers(headers));
    const preflight = await tSend(String(target), {
      method: 'OPTIONS',
      headers: {
        origin: page,
        'access-control-request-method': method,
        'access-control-request-headers': 'content-type',
      },
    });
    const response = await tSend(String(target), {
      method,
      headers: { ...sentHeaders, origin: page, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' },
      body: String(body ?? ''),
    });
    for (const { headers } of [preflight, response]) expect(headers['access-control-allow-origin']).toBe(page);
    expect(sentHeaders['content-type']).toBe('application/json');
    expect(preflight.headers['access-control-allow-headers']).toBe('content-type');
    requests.push(`${method} ${new URL(String(target)).search === '' ? 'text' : 'hash'} ${response.status}`);
    return new Response(new Uint8Array(response.body), {
      status: response.status,
      headers: response.headers as HeadersInit,
    });
  };

  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const persisted = new PersistedQueryLink({ sha256, useGETForHashedQueries: true });
  const client = new ApolloClient({
    link: persisted.concat(new HttpLink({ uri: url, fetch: fetchFromPage })),
    cache: new InMemoryCache({ typePolicies: { IbanCountry: { keyFields: ['code'] } } }),
  });
  const query = gql`query Name($code: String!) { country(code: $code) { code name } }`;
  const nameOf = async (code: string) => (await client.query<Named>({ query, variables: { code } })).data?.country.name;

  expect(await nameOf('DE')).toBe('Germany');
  expect(await nameOf('FR')).toBe('France');
  expect(requests).toEqual(['GET hash 200', 'POST text 200', 'GET hash 200']);
});

interface Named {
  country: { name: string };
}
