import { writeFileSync } from 'node:fs';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { schema } from '../src/graphql/schema/schema.ts';

/* `npm run schema`: prints schema.graphql anew. A test fails when the file and the code differ. */

export const schemaFile = new URL('../schema.graphql', import.meta.url);

export function printSortedSchema(): string {
  return `${printSchema(lexicographicSortSchema(schema))}\n`;
}

if (process.argv[1] === new URL(import.meta.url).pathname) writeFileSync(schemaFile, printSortedSchema());
