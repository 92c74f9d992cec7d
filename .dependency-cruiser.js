/*
 * The layers of src (`npm run lint` checks them). A file imports from its own layer or from a lower one; layers that
 * share a line do not import each other. `import type` counts.
 */
const layers = [
  ['cli'],
  ['main.ts'],
  ['gateway.ts'],
  ['http'],
  ['graphql/request', 'graphql/schema'],
  ['graphql/documents'],
  ['graphql/jit'],
  ['auth', 'documents'],
  ['payment-files'],
  ['bank-data', 'essays'],
  ['upstream'],
  ['bank-lists'],
  ['stores'],
  ['telemetry', 'workbooks'],
  ['config'],
  ['iban'],
  ['countries'],
  ['process'],
  ['(async|time|decode-text.ts|errors.ts|parse-json.ts|request-context.ts|trace.ts|words.ts)'],
];

const selfHosted = ['self-hosted/bank-data', 'self-hosted/essays', 'self-hosted/service.ts'];

/** What both self-hosted services import. */
const serviceBasics = [
  'self-hosted/service.ts',
  'config/service-config.ts',
  'telemetry/log.ts',
  'telemetry/redact.ts',
  'errors.ts',
];

/** Layers that import less than everything below them: the paths in src that they may import. */
const narrowLayers = {
  auth: [
    'auth',
    'config',
    'stores',
    'telemetry',
    'async',
    'time',
    'errors.ts',
    'parse-json.ts',
    'request-context.ts',
    // Budgets of callers are counted like the allowance of the gateway.
    'upstream/allowance',
  ],
  upstream: [
    'upstream',
    'stores',
    'telemetry',
    'async',
    'time',
    'errors.ts',
    'parse-json.ts',
    'request-context.ts',
    'trace.ts',
  ],
  // The self-hosted services share rules, lists and configuration with the gateway, but no part of it.
  'self-hosted/essays': [...serviceBasics, 'self-hosted/essays', 'time', 'parse-json.ts', 'words.ts'],
  'self-hosted/bank-data': [
    ...serviceBasics,
    'self-hosted/bank-data',
    'iban',
    'countries',
    'bank-lists',
    'decode-text.ts',
    'workbooks',
    // The imported bank directories are an LMDB file, opened as the gateway opens its own.
    'stores/lmdb-file.ts',
    'stores/data-folder.ts',
    // What the import shows, as the check of files does.
    'process/terminal.ts',
    'process/progress-bar.ts',
  ],
  'self-hosted/service.ts': ['self-hosted/service.ts'],
};

const inSrc = (paths) => `^src/(${paths.join('|').replaceAll('.', '[.]')})(/|$)`;

const layerRules = layers.flatMap((siblings, index) =>
  siblings.map((layer) => ({
    name: `${layer} imports lower layers only`,
    severity: 'error',
    from: { path: inSrc([layer]) },
    to: { path: inSrc([...layers.slice(0, index).flat(), ...siblings]), pathNot: inSrc([layer]) },
  })),
);

const narrowRules = Object.entries(narrowLayers).map(([layer, allowed]) => ({
  name: `${layer} imports few layers`,
  severity: 'error',
  from: { path: inSrc([layer]) },
  to: { path: '^src/', pathNot: inSrc(allowed) },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...layerRules,
    ...narrowRules,
    {
      name: 'only main.ts and cli import self-hosted',
      severity: 'error',
      from: { path: '^src/', pathNot: inSrc(['main.ts', 'cli', 'self-hosted']) },
      to: { path: inSrc(['self-hosted']) },
    },
    {
      name: 'iban is pure',
      comment: 'No packages, no Node.js modules.',
      severity: 'error',
      from: { path: inSrc(['iban']) },
      to: { pathNot: inSrc(['iban', 'countries/country-codes.ts']) },
    },
    {
      name: 'every folder is in a layer',
      comment: 'Add a new folder to the layers in .dependency-cruiser.js.',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: inSrc([...selfHosted, ...layers.flat()]) },
    },
    {
      name: 'src imports no tests, scripts, benchmarks or examples',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^(test|scripts|bench|examples)/' },
    },
    {
      name: 'src imports no development dependencies',
      comment: 'The image does not install them.',
      severity: 'error',
      from: { path: '^src/' },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'] },
    },
    { name: 'no cycles', severity: 'error', from: {}, to: { circular: true } },
    { name: 'no orphans', severity: 'error', from: { orphan: true }, to: {} },
  ],
  options: {
    // TypeScript 7 has no API that dependency-cruiser could use; swc parses in its place.
    parser: 'swc',
    doNotFollow: { path: '^node_modules/' },
    enhancedResolveOptions: { conditionNames: ['import', 'node', 'default'], exportsFields: ['exports'] },
  },
};
