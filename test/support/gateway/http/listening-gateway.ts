import { type Agent, METHODS, request } from 'node:http';
import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { Client, fetchExchange, gql } from '@urql/core';
import type { Environment } from '../../../../src/base/variables/read-variables.ts';
import { tGateway } from '../../gateway.ts';
import { replyJson, tUpstream, type Upstream } from '../../scripted-upstream.ts';

/** A gateway on a free port. By default, its upstream finds every IBAN valid. */
export async function tListeningGateway(env: Environment = {}, given?: Upstream) {
  const upstream = given ?? (await tUpstream(replyJson(200, { valid: true })));
  const gateway = tGateway({ bankDataUrl: upstream.url, essaysUrl: upstream.url, env });
  const origin = await gateway.listen();
  const url = `${origin}/graphql`;
  return {
    ...gateway,
    upstream,
    origin,
    url,
    post: (body: object | string, headers: SendHeaders = {}) =>
      tSend(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    /** Sends a GET that is executed unless a test removes its header. */
    get: (params: Record<string, string>, headers: SendHeaders = {}) =>
      tSend(`${url}?${new URLSearchParams(params)}`, { headers: { 'graphql-require-preflight': 'true', ...headers } }),
  };
}

export interface Received {
  status: number;
  headers: Record<string, string | undefined>;
  body: Buffer;
  json(): { data?: unknown; errors: { message: string; extensions: Record<string, unknown> }[] };
}

/** An array is sent as several headers. */
export type SendHeaders = Record<string, string | string[]>;

interface SendOptions {
  method?: string;
  headers?: SendHeaders;
  body?: string | Buffer;
  /** What the request line has in place of the path. */
  target?: string | undefined;
  /** Keeps connections; without one, each request has its own. */
  agent?: Agent | false;
}

/** Unlike `fetch`, sends any header unchanged and does not decompress bodies. */
export function tSend(
  url: string,
  { method = 'GET', headers = {}, body = '', target, agent = false }: SendOptions = {},
): Promise<Received> {
  return new Promise((resolve, reject) => {
    const length = body === '' ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    const path = target === undefined ? {} : { path: target };
    request(url, { method, headers: { ...length, ...headers }, agent, ...path }, async (response) => {
      const bytes = Buffer.concat(await response.toArray());
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers as Received['headers'],
        body: bytes,
        json: () => JSON.parse(bytes.toString()),
      });
    })
      .on('error', reject)
      .end(body);
  });
}

export interface State {
  __typename: string;
  essay?: { text: string };
}

export const stateFields = 'state { __typename ... on EssayFinished { essay { text } } }';
const subscription = gql`subscription ($id: ID!) { essayOrder(id: $id) { ${stateFields} } }`;

/** What a client has seen of an order. */
interface Watch {
  states: State[];
  /** The codes of errors; `network` without a GraphQL error. */
  errors: unknown[];
  /** Resolves when the client knows that there are no more results. */
  ended: Promise<void>;
}

interface WatchOptions {
  url: string;
  id: string;
  headers?: Record<string, string>;
}

interface Result {
  data?: { essayOrder: { state: State } | null } | null | undefined;
}

/** Apollo Client, urql with server-sent events, and urql with multipart. */
export function watchWithAll(options: WatchOptions): Watch[] {
  return [
    watchWithApollo(options),
    watchWithUrql('text/event-stream', options),
    watchWithUrql('multipart/mixed', options),
  ];
}

function watchWithApollo({ url, id, headers = {} }: WatchOptions): Watch {
  const client = new ApolloClient({ link: new HttpLink({ uri: url, headers }), cache: new InMemoryCache() });
  const results = client.subscribe<Result['data']>({
    query: subscription,
    variables: { id },
    fetchPolicy: 'no-cache',
    errorPolicy: 'all',
  });
  return collect((onResult, onEnd) => {
    results.subscribe({
      next: ({ data, error }) => {
        const errors = CombinedGraphQLErrors.is(error) ? error.errors : [];
        onResult({ data }, error && codesOf(errors));
      },
      complete: onEnd,
    });
  });
}

function watchWithUrql(accept: string, { url, id, headers = {} }: WatchOptions): Watch {
  const client = new Client({
    url,
    exchanges: [fetchExchange],
    preferGetMethod: false,
    fetchSubscriptions: true,
    fetchOptions: { headers: { ...headers, accept } },
  });
  return collect((onResult, onEnd) => {
    client.subscription(subscription, { id }).subscribe(({ data, error, hasNext }) => {
      // It repeats the last result for heartbeats of multipart/mixed, and at the end.
      onResult({ data }, error && codesOf(error.graphQLErrors));
      if (!hasNext) onEnd();
    });
  });
}

function collect(
  subscribe: (onResult: (result: Result, errors: unknown[] | undefined) => void, onEnd: () => void) => void,
): Watch {
  const states: State[] = [];
  const errors: unknown[] = [];
  const ended = new Promise<void>((resolve) => {
    subscribe(({ data }, failed) => {
      if (failed) errors.push(...failed);
      else if (data?.essayOrder) states.push(data.essayOrder.state);
    }, resolve);
  });
  return { states, errors, ended };
}

function codesOf(errors: readonly { extensions?: Record<string, unknown> | undefined }[]): unknown[] {
  return errors.length === 0 ? ['network'] : errors.map(({ extensions }) => extensions?.code);
}

/** The methods of /graphql: Node.js knows QUERY since 20.19.2. */
export const graphqlMethods = METHODS.includes('QUERY') ? 'GET, POST, QUERY' : 'GET, POST';
