import { relative } from 'node:path';
import { build, type OutputFile, type Plugin } from 'esbuild';
import { graphqlSync } from 'graphql';
import { schema } from '../src/graphql/schema/schema.ts';

/**
 * Bundles the processes with their packages: loading 850 files takes 500 ms longer. What is imported dynamically stays
 * in files of its own. The names of functions are kept for stack traces; `node --enable-source-maps` prints positions in
 * `src`.
 */
export async function bundle(folder: string): Promise<OutputFile[]> {
  const { outputFiles } = await build({
    entryPoints: processes,
    bundle: true,
    splitting: true,
    write: false,
    outdir: folder,
    outbase: 'src',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    // The ES build, of which unused code is left out.
    mainFields: ['module', 'main'],
    minifyWhitespace: true,
    minifySyntax: true,
    define: { 'process.env.NODE_ENV': '"production"' },
    sourcemap: 'linked',
    sourcesContent: false,
    // The image contains all packages with their licenses.
    legalComments: 'none',
    banner: { js: createRequire },
    plugins: [printedSdl, noJsonCompiler],
    logLevel: 'warning',
  });
  return outputFiles.map((file) => ({ ...file, path: relative('.', file.path) }));
}

const processes = [
  'src/main.ts',
  'src/self-hosted/bank-data/main.ts',
  'src/self-hosted/bank-data/import-banks.ts',
  'src/self-hosted/essays/main.ts',
  'src/cli/api-key.ts',
  'src/cli/check-config.ts',
];

/** For packages in CommonJS, which `require` modules of Node.js. */
const createRequire =
  "import { createRequire as createRequireOfBundle } from 'node:module'; const require = createRequireOfBundle(import.meta.url);";

const contextValue = { caller: { scopes: new Set(['introspection']) } };

/** Apollo's printer takes 120 ms and 10 MB in every process, so the SDL is printed here. */
const printedSdl: Plugin = {
  name: 'printed SDL',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^@apollo\/subgraph$/ }, ({ path }) => ({ path, namespace: 'printed' }));
    onLoad({ filter: /^/, namespace: 'printed' }, () => {
      const { data } = graphqlSync({ schema, source: '{ _service { sdl } }', contextValue });
      const { _service } = data as { _service: { sdl: string } };
      return { contents: `export const printSubgraphSchema = () => ${JSON.stringify(_service.sdl)};` };
    });
  },
};

/** graphql-jit loads it for an option that is not used: 5 MB, with Ajv. */
const noJsonCompiler: Plugin = {
  name: 'no JSON compiler',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^fast-json-stringify$/ }, ({ path, importer }) =>
      importer.includes('/graphql-jit/') ? { path, namespace: 'unused' } : null,
    );
    onLoad({ filter: /^/, namespace: 'unused' }, () => ({ contents: 'export default undefined;' }));
  },
};
