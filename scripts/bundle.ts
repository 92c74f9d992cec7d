import { readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { type BuildOptions, build } from 'esbuild';
import { directTypeChecks } from './direct-type-checks.ts';
import { packageParts } from './package-parts.ts';
import { describeLicenses } from './third-party-licenses.ts';

/**
 * Bundles the processes with their packages: loading 850 files takes 500 ms longer. What is imported dynamically stays
 * in files of its own. The names of functions are kept for stack traces; `node --enable-source-maps` prints positions in
 * `src`.
 */
export async function bundle(folder: string): Promise<BundledFile[]> {
  const { outputFiles, metafile } = await build({
    ...bundleOptions,
    entryPoints,
    splitting: true,
    write: false,
    metafile: true,
    outdir: folder,
    sourcemap: 'linked',
    sourcesContent: false,
  });
  const files = outputFiles.map(({ path, contents }) => ({ path: relative('.', path), contents }));
  const licenses = describeLicenses([...Object.keys(metafile.inputs), ...otherPackages]);
  return [
    ...files,
    ...readTables(folder),
    {
      path: `${folder}/third-party-licenses.txt`,
      contents: `${licenses}${readFileSync('src/banks/list-licenses.txt', 'utf8')}`,
    },
  ];
}

/** Of these folders, read beside the code. */
function readTables(folder: string): BundledFile[] {
  return ['src/banks', 'src/check/pain'].flatMap((from) => {
    const names = readdirSync(from, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tsv'));
    return names.map((name) => ({ path: `${folder}/${name}`, contents: readFileSync(`${from}/${name}`) }));
  });
}

interface BundledFile {
  path: string;
  contents: string | Uint8Array;
}

/** GraphiQL's page is built separately. */
const otherPackages = ['node_modules/@graphql-yoga/render-graphiql'];

/** Two processes, and a thread of the first. */
const entryPoints = {
  main: 'src/cli/main.ts',
  'cli/ledgerquill': 'src/cli/ledgerquill.ts',
  'check-worker': 'src/check/endpoint/worker.ts',
};

/** For packages in CommonJS, which `require` modules of Node.js. */
const createRequire =
  "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);";

/** For all that is measured or runs in production. */
export const bundleOptions = {
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'node20.19',
  // The ES build, of which unused code is left out.
  mainFields: ['module', 'main'],
  minifyWhitespace: true,
  minifySyntax: true,
  define: { 'process.env.NODE_ENV': '"production"' },
  // All licenses are in one file.
  legalComments: 'none',
  banner: { js: createRequire },
  plugins: [packageParts, directTypeChecks],
  logLevel: 'warning',
} satisfies BuildOptions;
