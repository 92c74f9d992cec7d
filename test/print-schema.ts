import { writeFileSync } from 'node:fs';
import { graphqlSync } from 'graphql';
import { schema } from '../src/graphql/schema/schema.ts';

/* `npm run schema`: prints schema.graphql anew. A test fails when the file and the code differ. */

export const schemaFile = new URL('../schema.graphql', import.meta.url);

/** The sorted SDL of the subgraph, as routers ask for it. */
export function printSubgraph(): string {
  const { data } = graphqlSync({ schema, source: '{ _service { sdl } }' });
  return `${(data as { _service: { sdl: string } } | undefined)?._service.sdl.trim()}\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) writeFileSync(schemaFile, printSubgraph());
