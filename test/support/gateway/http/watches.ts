import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import { CombinedGraphQLErrors } from '@apollo/client/errors';
import { Client, fetchExchange, gql } from '@urql/core';

export interface State {
  __typename: string;
  essay?: { text: string };
}

export const stateFields = 'state { __typename ... on EssayFinished { essay { text } } }';
const subscription = gql`subscription ($id: ID!) { essayOrder(id: $id) { ${stateFields} } }`;

/** What a client has seen of an order. */
export interface Watch {
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
