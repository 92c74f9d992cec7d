import { createGatewayRuntime } from '@graphql-hive/gateway-runtime';
import { adaptGraphiql } from '../../scripts/adapt-graphiql.ts';
import { useRequestSignature } from './request-signature.ts';
import { transports } from './transport.ts';

/**
 * Hive Gateway in this process. In production, run a router as a separate process.
 * @param signed the subgraph whose requests are signed, and the secret; null: none
 */
export function createRouter(supergraph: string, signed: { secret: string; url: string } | null = null) {
  return createGatewayRuntime({
    supergraph,
    transports,
    plugins: () => (signed === null ? [] : [useRequestSignature(signed)]),
    logging: false,
    landingPage: false,
    graphiql: { title: 'Payments and Ledgerquill', defaultQuery },
    // The default page loads its script from another origin. This one is large, so it is loaded only if it is visited.
    renderGraphiQL: async (options) => {
      const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql');
      return adaptGraphiql(renderGraphiQL(options));
    },
  });
}

const defaultQuery = `# Names from the payments subgraph, the rest
# from Ledgerquill: one look-up per IBAN.
query Payees {
  payees {
    name
    validation {
      valid
      problems
      bankData { name bic }
    }
  }
}
`;
