import { readFileSync } from 'node:fs';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { createYoga } from 'graphql-yoga';
import { type Payee, payees } from './payees.ts';

/** A subgraph with IBANs: it returns the key of each `IbanValidation`, which Ledgerquill resolves. */
export function createPayments() {
  const typeDefs = parse(readFileSync(new URL('./payments.graphql', import.meta.url), 'utf8'));
  const resolvers = {
    Query: { payees: () => payees },
    Payee: {
      __resolveReference: ({ id }: Pick<Payee, 'id'>) => payees.find((payee) => payee.id === id) ?? null,
      validation: ({ iban }: Payee) => ({ iban }),
    },
  };
  const schema = buildSubgraphSchema({ typeDefs, resolvers });
  return createYoga({ schema, logging: false, graphiql: false, landingPage: false });
}
