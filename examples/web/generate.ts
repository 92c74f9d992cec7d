import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generate } from '@graphql-codegen/cli';
import { buildSchema, isAbstractType } from 'graphql';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Generates types for the documents from the gateway's schema into `src/gql/`, which is not in Git. */
export async function generateDocuments(): Promise<void> {
  await generate({
    cwd: here('.'),
    schema: '../../schema.graphql',
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
  const file = here('src/gql/possible-types.json');
  const text = JSON.stringify(await findPossibleTypes(), null, 2);
  // Like codegen, write only changes, so that parallel readers do not see a partial file.
  if ((await readFile(file, 'utf8').catch(() => '')) !== text) await writeFile(file, text);
}

/** The types of each union and interface, which Apollo's cache needs to match fragments. */
async function findPossibleTypes(): Promise<Record<string, string[]>> {
  // Federation's directives are not declared in the file.
  const schema = buildSchema(await readFile(here('../../schema.graphql'), 'utf8'), { assumeValidSDL: true });
  const abstractTypes = Object.values(schema.getTypeMap()).filter(isAbstractType);
  return Object.fromEntries(
    abstractTypes.map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]),
  );
}

if (process.argv[1] === here('generate.ts')) await generateDocuments();
