import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loadRef, minifyIntrospection, outputIntrospectionFile } from 'gql.tada/internal';
import { describe, expect, it } from 'vitest';
import { tClientProject } from '../support/docs/client-project.ts';
import { tGateway } from '../support/gateway.ts';
import { tBankDataService } from '../support/self-hosted.ts';

/*
 * The projects of docs/clients.md, compiled by the real tools from the schema for clients as it is, checked by TypeScript, and
 * run with a gateway. Each has a wrong field as well: a tool that reads the schema finds it.
 */

const unknownField = (text: string) => text.replaceAll('ibanLength', 'ibanSize');

describe('relay-compiler', () => {
  const compile = ({ folder, run }: ReturnType<typeof tClientProject>) => {
    mkdirSync(join(folder, 'src/__generated__'));
    return run('relay-compiler/cli.js', ['relay.config.json']);
  };

  it('compiles the documents, and TypeScript their types', async () => {
    const project = tClientProject('Relay');
    expect(await compile(project)).toContain('compiled documents: 5 reader, 3 normalization, 6 operation text');
    await project.typecheck();
    const { listen } = tGateway({ bankDataUrl: await tBankDataService() });
    expect(await project.execute('src/BankList.ts', await listen())).toBe(project.expected);
  });

  it('compiles a fragment on a node to a query that finds it again', async () => {
    const project = tClientProject('Relay');
    await compile(project);
    const artifact = project.read('src/__generated__/IbanFactsRefetchQuery.graphql.ts');
    const [, text = '""'] = /"text": (".*")/.exec(artifact) ?? [];
    const query: string = JSON.parse(text);
    expect(query).toMatch(/node\(id: \$id\)/);
    const { ask } = tGateway({ bankDataUrl: await tBankDataService() });
    const { data } = await ask('{ ibanValidation(iban: "DE89370400440532013000") { id } }');
    const facts = { __typename: 'IbanValidation', iban: 'DE89370400440532013000', valid: true };
    expect((await ask(query, { id: data?.ibanValidation?.id })).data?.node).toMatchObject(facts);
  });

  it('persists documents, whose ids Relay sends in place of them to a gateway that requires trusted ones', async () => {
    const persistConfig = { file: './documents.json', algorithm: 'SHA256' };
    const project = tClientProject('Relay', (text, file) =>
      file === 'relay.config.json' ? JSON.stringify({ ...JSON.parse(text), persistConfig }) : text,
    );
    project.write('documents.json', '{}');
    await compile(project);
    const env = { TRUSTED_DOCUMENTS: join(project.folder, 'documents.json'), TRUSTED_DOCUMENTS_MODE: 'require' };
    const { listen, ask } = tGateway({ bankDataUrl: await tBankDataService(), env });
    expect(await project.execute('src/BankList.ts', await listen())).toBe(project.expected);
    expect(await ask('{ country(code: "FR") { name } }')).toMatchObject({
      errors: [{ extensions: { code: 'QUERY_NOT_IN_SAFELIST' } }],
    });
  });

  it('finds a field that is not in the schema', async () => {
    await expect(compile(tClientProject('Relay', unknownField))).rejects.toThrow(/ibanSize/);
  });
});

describe('GraphQL Code Generator', () => {
  const generate = ({ run }: ReturnType<typeof tClientProject>) =>
    run('@graphql-codegen/cli/esm/bin.js', ['--config', 'codegen.ts', '--verbose']);

  it('generates types of the documents, which TypeScript accepts', async () => {
    const project = tClientProject('GraphQL Code Generator');
    await generate(project);
    await project.typecheck();
    const { listen } = tGateway({ bankDataUrl: await tBankDataService() });
    expect(await project.execute('src/country.ts', await listen())).toBe(project.expected);
  });

  it('finds a field that is not in the schema', async () => {
    await expect(generate(tClientProject('GraphQL Code Generator', unknownField))).rejects.toThrow(/ibanSize/);
  });
});

describe('gql.tada', () => {
  /** What its command generate-output does, which needs the API of TypeScript 5 or 6. */
  async function generateOutput({ folder, read, write }: ReturnType<typeof tClientProject>): Promise<void> {
    const [{ schema, tadaOutputLocation }] = JSON.parse(read('tsconfig.json')).compilerOptions.plugins;
    const loader = loadRef({ schema });
    const { current } = await loader.load({ rootPath: folder });
    if (!current) throw new Error('gql.tada has not read the schema');
    const options = { fileType: tadaOutputLocation, shouldPreprocess: true };
    write(tadaOutputLocation, outputIntrospectionFile(minifyIntrospection(current.introspection), options));
  }

  it('infers types of the documents, which TypeScript accepts', async () => {
    const project = tClientProject('gql.tada');
    await generateOutput(project);
    await project.typecheck();
    const { listen } = tGateway({ bankDataUrl: await tBankDataService() });
    expect(await project.execute('src/allowances.ts', await listen())).toBe(project.expected);
  });

  it('has no type for a field that is not in the schema', async () => {
    const project = tClientProject('gql.tada', unknownField);
    await generateOutput(project);
    await expect(project.typecheck()).rejects.toThrow(
      /src\/allowances\.ts.*Type 'unknown' is not assignable to type 'number/,
    );
  });
});
