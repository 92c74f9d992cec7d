/*
 * Which folder of src may import which (`npm run lint` checks it). `import type` counts. Each product imports from its own
 * folder and from the products below it; in `gateway`, each layer from the layers below it. What shares a line does not
 * import each other.
 */
const products = [
  ['cli'],
  ['gateway'],
  ['check'],
  ['bank-data-service', 'essay-service'],
  ['banks'],
  ['iban'],
  ['base'],
];

const layersOfGateway = [
  ['gateway.ts'],
  ['mcp'],
  ['http'],
  ['graphql/request', 'graphql/schema'],
  ['graphql/documents'],
  ['graphql/jit'],
  ['callers'],
  ['bank-data', 'essays'],
  ['upstream'],
  ['audit', 'stores'],
  ['telemetry'],
  ['config'],
  ['request-context.ts'],
  ['trace.ts'],
];

/** Folders that import less than all that is below them. */
const narrowFolders = {
  'gateway/callers': ['callers', 'config', 'stores', 'telemetry', 'upstream/allowance', 'request-context.ts'],
  'gateway/upstream': ['upstream', 'stores', 'telemetry', 'request-context.ts', 'trace.ts'],
};

const inSrc = (paths) => `^src/(${paths.join('|').replaceAll('.', '[.]')})(/|$)`;

function rulesOf(layers, folder) {
  const inFolder = (names) => names.map((name) => folder + name);
  return layers.flatMap((siblings, index) =>
    siblings.map((layer) => ({
      name: `${layer} imports lower layers only`,
      severity: 'error',
      from: { path: inSrc(inFolder([layer])) },
      to: {
        path: inSrc(inFolder([...layers.slice(0, index).flat(), ...siblings])),
        pathNot: inSrc(inFolder([layer])),
      },
    })),
  );
}

const narrowRules = Object.entries(narrowFolders).map(([folder, allowed]) => ({
  name: `${folder} imports few folders`,
  severity: 'error',
  from: { path: inSrc([folder]) },
  to: { path: '^src/', pathNot: inSrc([...allowed.map((name) => `gateway/${name}`), 'base']) },
}));

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...rulesOf(products, ''),
    ...rulesOf(layersOfGateway, 'gateway/'),
    ...narrowRules,
    {
      name: 'the gateway meets the services over HTTP only',
      severity: 'error',
      from: { path: inSrc(['gateway']) },
      to: { path: inSrc(['bank-data-service', 'essay-service']) },
    },
    {
      name: 'iban is pure',
      comment: 'No packages, no Node.js modules, but for the names of countries.',
      severity: 'error',
      from: { path: inSrc(['iban']), pathNot: inSrc(['iban/country-name.ts']) },
      to: { pathNot: '^src/iban/', path: '.' },
    },
    {
      name: 'every folder is in a layer',
      comment: 'Add a new folder to the layers in .dependency-cruiser.js.',
      severity: 'error',
      from: {},
      to: {
        path: '^src/',
        pathNot: inSrc([
          ...products.flat().filter((name) => name !== 'gateway'),
          ...layersOfGateway.flat().map((name) => `gateway/${name}`),
        ]),
      },
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
