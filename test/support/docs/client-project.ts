import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { tFolder } from '../gateway/stores/folder.ts';
import { fencedBlocks } from './fenced-blocks.ts';
import { runModule } from './run-block.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A project of a front-end developer: the files below a heading of docs/clients.md, and the schema for clients. */
export function tClientProject(heading: string, edit: (text: string, file: string) => string = (text) => text) {
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
