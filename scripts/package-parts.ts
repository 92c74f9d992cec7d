import type { Plugin } from 'esbuild';

// cspell:ignore dbcs

/**
 * Leaves parts of packages out of the bundle that are not used: undici's fetch, caches and mocks, a JSON compiler, encodings. Instead
 * of the main module of undici, there are only the exports listed here; an import of another one fails the build.
 */
export const packageParts: Plugin = {
  name: 'parts of packages',
  setup({ onLoad, onResolve }) {
    for (const { module, contents } of replacements) onLoad({ filter: module }, () => ({ contents }));
    // graphql-jit loads it for an option that is not used: 5 MB, with Ajv. The self-hosted services need it.
    onResolve({ filter: /^fast-json-stringify$/ }, ({ path, importer }) =>
      importer.includes('/graphql-jit/') ? { path, namespace: 'unused' } : null,
    );
    onLoad({ filter: /^/, namespace: 'unused' }, () => ({ contents: 'export default undefined;' }));
  },
};

const replacements = [
  {
    module: /\/node_modules\/undici\/index\.js$/,
    contents: `
      import Dispatcher from './lib/dispatcher/dispatcher.js';
      import api from './lib/api/index.js';
      Object.assign(Dispatcher.prototype, api);
      export { default as Agent } from './lib/dispatcher/agent.js';
      export { default as Client } from './lib/dispatcher/client.js';
      export { default as buildConnector } from './lib/core/connect.js';
      export { default as errors } from './lib/core/errors.js';
      export { default as Pool } from './lib/dispatcher/pool.js';
      export { default as util } from './lib/core/util.js';`,
  },
  {
    // The gateway does not enable HTTP/2, for which undici would load a module of Node.js at the start.
    module: /\/node_modules\/undici\/lib\/dispatcher\/client-h2\.js$/,
    contents: 'export default undefined;',
  },
  {
    // Chinese, Japanese and Korean encodings, in which no file is read or written: 0.4 MB.
    module: /\/node_modules\/iconv-lite\/encodings\/dbcs-data\.js$/,
    contents: 'module.exports = {};',
  },
];
