import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { loadRef, minifyIntrospection, outputIntrospectionFile } from 'gql.tada/internal';
import { describe, expect, it } from 'vitest';
import { fencedBlocks, runModule } from '../support/docs/blocks.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tGateway } from '../support/gateway.ts';
import { tBankDataService } from '../support/self-hosted.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A project of a front-end developer: the files below a heading of docs/clients.md, and the schema for clients. */
function tClientProject(heading: string, edit: (text: string, file: string) => string = (text) => text) {
  const folder = tFolder();
  const blocks = fencedBlocks(readFileSync(join(root, 'docs/clients.md'), 'utf8'));
  const files = blocks.flatMap((block) => (block.heading === heading && block.file !== null ? [block.file] : []));
  const texts = new Map(blocks.map(({ file, text }) => [file, text]));
  const write = (file: string, text: string) => {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  };
  write('package.json', '{ "type": "module" }');
  // Replaced by the one of the page, if it has one.
  write('tsconfig.json', JSON.stringify({ compilerOptions, include: ['src'] }));
  for (const file of files) write(file, edit(texts.get(file) ?? '', file));
  copyFileSync(join(root, 'schema.client.graphql'), join(folder, 'schema.client.graphql'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  /** What the block after the last file says that it prints. */
  const expected = blocks[blocks.findIndex(({ file }) => file === files.at(-1)) + 1]?.text ?? '';

  return {
    folder,
    files,
    expected,
    write,
    read: (file: string) => readFileSync(join(folder, file), 'utf8'),
    /** Runs the command of a package. @returns its output; rejects with it if the command fails */
    run: (script: string, args: readonly string[] = []) => runNode([join('node_modules', script), ...args], folder),
    /** Checks the types of all files with TypeScript. */
    typecheck: () => runNode(['node_modules/typescript/bin/tsc', '--project', '.'], folder),
    /** Bundles and runs a file, with this gateway in place of the one at port 4000. @returns what it prints */
    async execute(file: string, origin: string): Promise<string> {
      await build({
        absWorkingDir: folder,
        entryPoints: [file],
        outfile: 'bundle.mjs',
        bundle: true,
        platform: 'node',
        format: 'esm',
        banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
        plugins: [relayArtifacts],
        logLevel: 'error',
      });
      return runModule(
        readFileSync(join(folder, 'bundle.mjs'), 'utf8').replaceAll('http://127.0.0.1:4000', origin),
        expected,
      );
    },
  };
}

const compilerOptions = {
  strict: true,
  module: 'esnext',
  moduleResolution: 'bundler',
  target: 'es2022',
  noEmit: true,
  skipLibCheck: true,
};

/** Replaces each `graphql` tag by the file that relay-compiler wrote for it, as Relay's plug-ins for bundlers do. */
const relayArtifacts: Plugin = {
  name: 'relay artifacts',
  setup({ onLoad }) {
    onLoad({ filter: /\/src\/\w+\.ts$/ }, ({ path }) => {
      const tag = /graphql`\s*(?:query|fragment|mutation) (\w+)[^`]*`/g;
      const text = readFileSync(path, 'utf8').replaceAll(tag, "require('./__generated__/$1.graphql').default");
      return { contents: text, loader: 'ts' };
    });
  },
};

function runNode(args: readonly string[], cwd: string): Promise<string> {
  // GraphQL Code Generator describes no errors in tests.
  const env = { ...process.env, NODE_ENV: 'development' };
  return new Promise((resolve, reject) => {
    execFile(process.execPath, args, { cwd, env, timeout: 200_000 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`${error.message}\n${stdout}${stderr}`));
      else resolve(stdout);
    });
  });
}

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
