import { writeFileSync } from 'node:fs';
import { graphqlSync } from 'graphql';
import { composeSupergraph } from '../examples/supergraph/compose.ts';
import { schema } from '../src/graphql/schema/schema.ts';

/* `npm run schema`: writes schema.graphql and the example's supergraph. Tests fail when a file and the code differ. */

export const schemaFile = new URL('../schema.graphql', import.meta.url);

const contextValue = { caller: { scopes: new Set(['introspection']) } };

/** The sorted SDL of the subgraph, as routers query it. */
export function printSubgraph(): string {
  const { data } = graphqlSync({ schema, source: '{ _service { sdl } }', contextValue });
  return `${(data as { _service: { sdl: string } } | undefined)?._service.sdl.trim()}\n`;
}

export const supergraphFile = new URL('../examples/supergraph/supergraph.graphql', import.meta.url);

/** The example's supergraph. The URLs are placeholders: the example sets them at run time. */
export function printSupergraph(): string {
  return `${composeSupergraph({ payments: 'http://payments/graphql', ledgerquill: 'http://ledgerquill/graphql' }).trim()}\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  writeFileSync(schemaFile, printSubgraph());
  writeFileSync(supergraphFile, printSupergraph());
}
