import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Files on which the types depend: with the same ones, they are not generated again, which takes seconds. */
const inputs = [
  'generate.ts',
  'src/documents.ts',
  '../../schema.client.graphql',
  '../../node_modules/@graphql-codegen/client-preset/package.json',
];
const stampFile = here('src/gql/inputs.txt');

/** Generates types for the documents from the gateway's schema into `src/gql/`, which is not in Git. */
export async function generateDocuments(): Promise<void> {
  const stamp = inputs
    .reduce((hash, path) => hash.update(readFileSync(here(path))), createHash('sha256'))
    .digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  const { generate } = await import('@graphql-codegen/cli');
  await generate({
    cwd: here('.'),
    schema: '../../schema.client.graphql',
    documents: ['src/documents.ts'],
    importExtension: '.ts',
    silent: true,
    generates: {
      'src/gql/': {
        preset: 'client',
        // The default name, useFragment, is also the name of an Apollo hook.
        presetConfig: { fragmentMasking: { unmaskFunctionName: 'readFragment' } },
        config: {
          useTypeImports: true,
          scalars: { BIC: 'string', Date: 'string', DateTime: 'string', IBAN: 'string', ID: 'string' },
        },
      },
    },
  });
  writeFileSync(stampFile, stamp);
}

if (process.argv[1] === here('generate.ts')) await generateDocuments();
