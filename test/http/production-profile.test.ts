import { describe, expect, it } from 'vitest';
import { as, tCallers } from '../support/http/callers.ts';
import { type Received, tSend } from '../support/http/listening-gateway.ts';
import { replyJson, tUpstream } from '../support/scripted-upstream.ts';

/*
 * The checks of graphql-cop 1.15 in the profile for production: callers have API keys without the scopes for developers.
 * https://github.com/dolevf/graphql-cop/tree/main/lib/tests
 */

interface TReceived {
  status: number;
  text: string;
  json: { data?: Record<string, unknown>; errors?: { message: string; extensions?: Record<string, unknown> }[] };
}

interface Cop {
  query(text: string): Promise<TReceived>;
  batch(text: string, count: number): Promise<TReceived>;
  get(search: string, headers?: Record<string, string>): Promise<TReceived>;
  form(text: string): Promise<TReceived>;
}

/** Whether the gateway has the weakness. */
const checks: [title: string, isFound: (cop: Cop) => Promise<boolean>][] = [
  [
    'Field Suggestions',
    async ({ query }) => {
      const { json } = await query('query cop { __schema { directive } }');
      return json.errors?.[0]?.message.includes('Did you mean') ?? false;
    },
  ],
  [
    'Introspection',
    async ({ query }) => hasData(await query('query cop { __schema { types { name fields { name } } } }'), '__schema'),
  ],
  [
    'GraphQL IDE',
    async ({ get }) => {
      const { status, text } = await get('', { accept: 'text/html' });
      return status < 400 && /graphiql|graphql.playground/i.test(text);
    },
  ],
  ['GET Method Query Support', async ({ get }) => hasData(await get('?query=query cop {__typename}'), '__typename')],
  [
    'Mutation is allowed over GET',
    async ({ get }) => hasData(await get('?query=mutation cop {__typename}'), '__typename'),
  ],
  ['POST based url-encoded query', async ({ form }) => hasData(await form('query cop { __typename }'), '__typename')],
  [
    'Alias Overloading',
    async ({ query }) => {
      const aliases = Array.from({ length: 101 }, (_, index) => `alias${index}:__typename`);
      return hasData(await query(`query cop { ${aliases.join(' \n')} }`), 'alias100');
    },
  ],
  [
    'Array-based Query Batching',
    async ({ batch }) => Object.keys((await batch('query cop { __typename }', 10)).json).length >= 10,
  ],
  [
    'Directive Overloading',
    async ({ query }) => (await query(`query cop { __typename ${'@aa'.repeat(10)} }`)).json.errors?.length === 10,
  ],
  [
    'Introspection-based Circular Query',
    async ({ query }) => {
      const circle = 'fields { type { '.repeat(4);
      return hasData(await query(`query cop { __schema { types { ${circle} name ${'} }'.repeat(4)} } } }`), '__schema');
    },
  ],
  ['Trace Mode', async ({ query }) => /"tracing"|ftv1/.test((await query('query cop { __typename }')).text)],
  [
    'Unhandled Errors Detection',
    async ({ query }) => /exception|stack|node_modules/i.test((await query('qwerty cop { abc }')).text),
  ],
];

function hasData({ json }: TReceived, name: string): boolean {
  return Boolean(json.data?.[name]);
}

async function tCop(env: Record<string, string>, headers: Record<string, string>): Promise<Cop> {
  const upstream = await tUpstream(replyJson(200, { valid: true }));
  const { url } = await tCallers({ callers: { shop: 'bank-data+essays' }, env, upstream });
  const read = ({ status, body }: Received) => {
    const text = body.toString();
    return { status, text, json: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : {} };
  };
  const post = async (body: string, type = 'application/json') =>
    read(await tSend(url, { method: 'POST', body, headers: { ...headers, 'content-type': type } }));
  return {
    query: (query) => post(JSON.stringify({ query, operationName: 'cop' })),
    batch: (query, count) => post(JSON.stringify(Array(count).fill({ query }))),
    get: async (search, more) => read(await tSend(encodeURI(url + search), { headers: { ...headers, ...more } })),
    form: (query) => post(String(new URLSearchParams({ query })), 'application/x-www-form-urlencoded'),
  };
}

describe.each([
  ['with a key', as('shop')],
  ['without a key', {}],
  ['with a wrong key', as('other')],
])('graphql-cop %s', (_, headers) => {
  it.each(checks)('does not find: %s', async (_, isFound) => {
    expect(await isFound(await tCop({}, headers))).toBe(false);
  });
});

it('is checked by tests that can find something', async () => {
  const anybody = { INTROSPECTION: 'on', GRAPHIQL: 'on', ANONYMOUS_SCOPES: 'bank-data' };
  const found: string[] = [];
  for (const [title, isFound] of checks) {
    const cop = await tCop(anybody, { 'apollo-require-preflight': 'true' });
    if (await isFound(cop)) found.push(title);
  }
  expect(found).toEqual(['Field Suggestions', 'Introspection', 'GraphQL IDE', 'GET Method Query Support']);
});
