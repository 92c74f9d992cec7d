import type { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { buildHTTPExecutor } from '@graphql-tools/executor-http';
import { print } from 'graphql';

type Transports = NonNullable<Parameters<typeof createGatewayRuntime>[0]['transports']>;

/**
 * Requests to subgraphs: GraphQL over HTTP by POST. Hive Gateway has no default transport. Subscriptions are received as
 * server-sent events, by the package that Hive Gateway's own transport uses.
 */
export const transports: Transports = {
  http: {
    getSubgraphExecutor({ subgraphName, transportEntry: { location = '' }, fetch = globalThis.fetch }) {
      const subscribe = buildHTTPExecutor({ endpoint: location, method: 'POST', fetch });
      return async (operation) => {
        if (operation.operationType === 'subscription') return subscribe(operation);
        const { document, variables, context, info, signal } = operation;
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
