import { fileURLToPath } from 'node:url';
import { generate } from '@graphql-codegen/cli';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Generates types for the documents from the gateway's schema into `src/gql/`, which is not in Git. */
export async function generateDocuments(): Promise<void> {
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
        config: { useTypeImports: true, scalars: { DateTime: 'string', ID: 'string' } },
      },
    },
  });
}

if (process.argv[1] === here('generate.ts')) await generateDocuments();
