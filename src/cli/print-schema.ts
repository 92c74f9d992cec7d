import { readFileSync } from 'node:fs';
import { builtFile } from '../process/package-files.ts';

/** Prints the schema of the package, which is also in the file of this name. */
export function printSchema(): void {
  process.stdout.write(readFileSync(builtFile('../schema.graphql')));
}
