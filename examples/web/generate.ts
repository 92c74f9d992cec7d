import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type DocumentNode,
  type FieldDefinitionNode,
  Kind,
  type ListValueNode,
  parse,
  print,
  type TypeNode,
  visit,
} from 'graphql';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Files on which the types depend: with the same ones, they are not generated again, which takes seconds. */
const inputs = [
  'generate.ts',
  'src/documents.ts',
  '../../schema.client.graphql',
  '../../node_modules/@graphql-codegen/client-preset/package.json',
];
const stampFile = here('src/gql/inputs.txt');

/**
 * The schema in which fields with `@semanticNonNull` are not null, for pages that read no field whose path has an error. With the
 * package graphql-sock, the code generator does the same: `nullability: { errorHandlingClient: true }`.
 */
function semanticToStrict(schema: DocumentNode): DocumentNode {
  return visit(schema, { FieldDefinition: (field) => ({ ...field, type: makeStrict(field.type, levelsOf(field)) }) });
}

function levelsOf({ directives = [] }: FieldDefinitionNode): readonly number[] {
  const directive = directives.find(({ name }) => name.value === 'semanticNonNull');
  const levels = directive?.arguments?.[0]?.value as ListValueNode | undefined;
  if (levels) return levels.values.map((level) => (level.kind === Kind.INT ? Number(level.value) : 0));
  return directive ? [0] : [];
}

function makeStrict(type: TypeNode, levels: readonly number[], level = 0): TypeNode {
  if (type.kind === Kind.NON_NULL_TYPE) return { ...type, type: makeNullable(type.type, levels, level) };
  const inner = makeNullable(type, levels, level);
  return levels.includes(level) ? { kind: Kind.NON_NULL_TYPE, type: inner } : inner;
}

function makeNullable<Type extends TypeNode>(type: Type, levels: readonly number[], level: number): Type {
  return type.kind === Kind.LIST_TYPE ? { ...type, type: makeStrict(type.type, levels, level + 1) } : type;
}

/** Generates types for the documents from the gateway's schema into `src/gql/`, which is not in Git. */
export async function generateDocuments(): Promise<void> {
  const stamp = inputs
    .reduce((hash, path) => hash.update(readFileSync(here(path))), createHash('sha256'))
    .digest('hex');
  if (existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp) return;
  const { generate } = await import('@graphql-codegen/cli');
  await generate({
    cwd: here('.'),
    schema: print(semanticToStrict(parse(readFileSync(here('../../schema.client.graphql'), 'utf8')))),
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
