import { readFileSync } from 'node:fs';
import { composeServices } from '@theguild/federation-composition';
import { parse } from 'graphql';

/** The subgraphs' GraphQL endpoints. */
export interface SubgraphUrls {
  payments: string;
  ledgerquill: string;
}

/** Composes the supergraph SDL for routers. @throws Error with all composition errors */
export function composeSupergraph(urls: SubgraphUrls): string {
  const { supergraphSdl, errors } = composeServices(readSubgraphs(urls));
  if (errors) throw new Error(errors.map(({ message }) => message).join('\n'));
  return supergraphSdl;
}

export function readSubgraphs({ payments, ledgerquill }: SubgraphUrls) {
  return [
    { name: 'payments', url: payments, typeDefs: read('./payments.graphql') },
    { name: 'ledgerquill', url: ledgerquill, typeDefs: read('../../schema.graphql') },
  ];
}

function read(file: string) {
  return parse(readFileSync(new URL(file, import.meta.url), 'utf8'));
}
