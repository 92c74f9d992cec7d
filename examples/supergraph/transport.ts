import type { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { print } from 'graphql';

type Transports = NonNullable<Parameters<typeof createGatewayRuntime>[0]['transports']>;

/** Requests to subgraphs: GraphQL over HTTP by POST. Hive Gateway has no default transport. */
export const transports: Transports = {
  http: {
    getSubgraphExecutor({ subgraphName, transportEntry: { location = '' }, fetch = globalThis.fetch }) {
      return async ({ document, variables, context, info, signal }) => {
        const body = JSON.stringify({ query: print(document), variables });
        const headers = { 'content-type': 'application/json', accept: 'application/graphql-response+json' };
        const request = { method: 'POST', headers, body, ...(signal && { signal }) };
        const response = await fetch(location, request, context, info);
        const isGraphql = response.headers.get('content-type')?.includes('json');
        if (!isGraphql) throw new Error(`The subgraph ${subgraphName} returned status ${response.status}.`);
        return response.json();
      };
    },
  },
};
