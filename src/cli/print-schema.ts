import { readFileSync } from 'node:fs';
import { builtFile } from '../base/process/package-files.ts';

/** The files of the package that can be printed, by option; without one, the subgraph. */
const files = {
  client: 'schema.client.graphql',
  possibleTypes: 'possibleTypes.json',
  apollo: 'clients/apollo-cache.js',
  graphcache: 'clients/graphcache.js',
} as const;

type SchemaOptions = Partial<Record<keyof typeof files, boolean>>;

/** Prints a file of the package. */
export function printSchema(options: SchemaOptions): void {
  const names = Object.keys(files) as (keyof typeof files)[];
  const name = names.find((option) => options[option]);
  process.stdout.write(readFileSync(builtFile(`../${name === undefined ? 'schema.graphql' : files[name]}`)));
}
