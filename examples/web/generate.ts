import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { generate } from '@graphql-codegen/cli';
import { buildSchema, isAbstractType } from 'graphql';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Types the documents of the pages by the gateway's schema: writes `src/gql/`, which is not kept in Git. */
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
        // Codegen's own name for it, useFragment, is that of an Apollo hook; and it is no hook.
        presetConfig: { fragmentMasking: { unmaskFunctionName: 'readFragment' } },
        config: { useTypeImports: true, scalars: { DateTime: 'string', ID: 'string' } },
      },
    },
  });
  const file = here('src/gql/possible-types.json');
  const text = JSON.stringify(await findPossibleTypes(), null, 2);
  // As codegen does it: whoever reads it meanwhile is not to find half of the same.
  if ((await readFile(file, 'utf8').catch(() => '')) !== text) await writeFile(file, text);
}

/** Which types each union and interface has: what Apollo's cache needs to match fragments on them. */
async function findPossibleTypes(): Promise<Record<string, string[]>> {
  // Federation's directives are declared nowhere in it, and matter to routers only.
  const schema = buildSchema(await readFile(here('../../schema.graphql'), 'utf8'), { assumeValidSDL: true });
  const abstractTypes = Object.values(schema.getTypeMap()).filter(isAbstractType);
  return Object.fromEntries(
    abstractTypes.map((type) => [type.name, schema.getPossibleTypes(type).map(({ name }) => name)]),
  );
}

if (process.argv[1] === here('generate.ts')) await generateDocuments();
