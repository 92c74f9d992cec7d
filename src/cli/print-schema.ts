import { readFileSync } from 'node:fs';
import { builtFile } from '../base/process/package-files.ts';

interface SchemaOptions {
  client?: boolean;
  possibleTypes?: boolean;
}

/** Prints a file of the package: the subgraph, the schema for clients, or the types of its unions and interfaces. */
export function printSchema({ client = false, possibleTypes = false }: SchemaOptions): void {
  const name = client ? 'schema.client.graphql' : possibleTypes ? 'possibleTypes.json' : 'schema.graphql';
  process.stdout.write(readFileSync(builtFile(`../${name}`)));
}
