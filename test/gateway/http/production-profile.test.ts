import { describe, expect, it } from 'vitest';
import { as, tCallers } from '../../support/gateway/callers.ts';
import { tSend } from '../../support/gateway/http/listening-gateway.ts';

/*
 * The checks of graphql-cop 1.15 in the profile for production: callers have API keys without the scopes for developers.
 * https://github.com/dolevf/graphql-cop/tree/main/lib/tests
 */

interface Sent {
  body?: string;
  search?: string;
  headers?: Record<string, string>;
}

interface Answer {
  status: number;
  text: string;
  json: { data?: Record<string, unknown>; errors?: unknown[] };
}

const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const ask = (query: string): Sent => ({ body: JSON.stringify({ query, operationName: 'cop' }), headers: json });
const has =
  (name: string) =>
  ({ json }: Answer) =>
    Boolean(json.data?.[name]);
const typename = 'query cop { __typename }';
const aliases = Array.from({ length: 101 }, (_, index) => `alias${index}:__typename`).join(' \n');
const circle = `${'fields { type { '.repeat(4)} name ${'} }'.repeat(4)}`;

/** What is sent, and whether the answer shows the weakness. */
const checks: [title: string, sent: Sent, isFound: (answer: Answer) => boolean][] = [
  ['Field Suggestions', ask('query cop { __schema { directive } }'), ({ text }) => text.includes('Did you mean')],
  ['Introspection', ask('query cop { __schema { types { name fields { name } } } }'), has('__schema')],
  [
    'GraphQL IDE',
    { headers: { accept: 'text/html' } },
    ({ status, text }) => status < 400 && /graphiql|graphql.playground/i.test(text),
  ],
  ['GET Method Query Support', { search: '?query=query cop {__typename}' }, has('__typename')],
  ['Mutation is allowed over GET', { search: '?query=mutation cop {__typename}' }, has('__typename')],
  ['POST based url-encoded query', { body: `query=${encodeURI(typename)}`, headers: form }, has('__typename')],
  ['Alias Overloading', ask(`query cop { ${aliases} }`), has('alias100')],
  [
    'Array-based Query Batching',
    { body: JSON.stringify(Array(10).fill({ query: typename })), headers: json },
    ({ json }) => Object.keys(json).length >= 10,
  ],
  [
    'Directive Overloading',
    ask(`query cop { __typename ${'@aa'.repeat(10)} }`),
    ({ json }) => json.errors?.length === 10,
  ],
  ['Introspection-based Circular Query', ask(`query cop { __schema { types { ${circle} } } }`), has('__schema')],
  ['Trace Mode', ask(typename), ({ text }) => /"tracing"|ftv1/.test(text)],
  ['Unhandled Errors Detection', ask('qwerty cop { abc }'), ({ text }) => /exception|stack|node_modules/i.test(text)],
];

async function tCop(env: Record<string, string>, own: Record<string, string>) {
  const { url } = await tCallers({ callers: { shop: 'bank-data+essays' }, env });
  return async ({ body, search = '', headers }: Sent): Promise<Answer> => {
    const options = { headers: { ...own, ...headers }, ...(body !== undefined && { method: 'POST', body }) };
    const received = await tSend(encodeURI(url + search), options);
    const text = received.body.toString();
    return { status: received.status, text, json: /^[{[]/.test(text) ? JSON.parse(text) : {} };
  };
}

describe.each([
  ['with a key', as('shop')],
  ['without a key', {}],
  ['with a wrong key', as('other')],
])('graphql-cop %s', (_, headers) => {
  it.each(checks)('does not find: %s', async (_, sent, isFound) => {
    expect(isFound(await (await tCop({}, headers))(sent))).toBe(false);
  });
});

it('is checked by tests that can find something', async () => {
  const anybody = { INTROSPECTION: 'on', GRAPHIQL: 'on', ANONYMOUS_SCOPES: 'bank-data' };
  const found: string[] = [];
  const send = await tCop(anybody, { 'graphql-require-preflight': 'true' });
  for (const [title, sent, isFound] of checks) if (isFound(await send(sent))) found.push(title);
  expect(found).toEqual(['Field Suggestions', 'Introspection', 'GraphQL IDE', 'GET Method Query Support']);
});
