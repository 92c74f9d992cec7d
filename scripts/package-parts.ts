import type { Plugin } from 'esbuild';

/**
 * Packages whose main module loads much more than the gateway uses: undici's fetch, caches and mocks, rate limiters for
 * other databases, GraphQL.js's JSON compiler. In the bundle, each is replaced by the parts listed here; an import of
 * another part fails the build. It saves about 80 ms of the start, and 1 MB of code.
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
      export { default as util } from './lib/core/util.js';`,
  },
  {
    // HTTP/2 is off, as is the default. It would load Node.js's implementation.
    module: /\/node_modules\/undici\/lib\/dispatcher\/client-h2\.js$/,
    contents: 'export default undefined;',
  },
  {
    module: /\/node_modules\/rate-limiter-flexible\/index\.js$/,
    contents: `
      export { default as RateLimiterMemory } from './lib/RateLimiterMemory.js';
      export { default as RateLimiterRedis } from './lib/RateLimiterRedis.js';
      export { default as RateLimiterRes } from './lib/RateLimiterRes.js';`,
  },
];
