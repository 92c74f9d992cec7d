import graphql from '@graphql-eslint/eslint-plugin';

/* ESLint checks schema.graphql only; Biome checks the TypeScript. */

const { rules: all } = graphql.configs['flat/schema-all'];
const { rules: relay } = graphql.configs['flat/schema-relay'];

export default [
  {
    files: ['schema.graphql'],
    plugins: { '@graphql-eslint': graphql },
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: './schema.graphql' } } },
    rules: {
      ...all,
      ...relay,
      '@graphql-eslint/require-description': [
        'error',
        { types: true, rootField: true, FieldDefinition: true, InputValueDefinition: true, EnumValueDefinition: true },
      ],
      /* All rules, but these: */
      // The printer sorts names by their code units, `essayWords` before `essays`; test/schema.test.ts checks it.
      '@graphql-eslint/alphabetize': 'off',
      // An id is the only input of the mutations that have no input object.
      '@graphql-eslint/input-name': 'off',
      // The schema has all three root types.
      '@graphql-eslint/no-root-type': 'off',
      // SDL has no argument for the date: the reason names it, see below.
      '@graphql-eslint/require-deprecation-date': 'off',
      // What needs no service cannot fail, and the failures of paid orders are members of their unions.
      '@graphql-eslint/require-nullable-result-in-root': 'off',
      // Pages and failures have no key; entities have the keys of the field, such as a BIC.
      '@graphql-eslint/strict-id-in-types': 'off',
      // `BankData.bankCode` is the usual name.
      '@graphql-eslint/no-typename-prefix': 'off',
      // Pagination is forward only, and short lists are not connections.
      '@graphql-eslint/relay-arguments': ['error', { includeBoth: false }],
      '@graphql-eslint/relay-edge-types': [
        'error',
        { withEdgeSuffix: true, shouldImplementNode: false, listTypeCanWrapOnlyEdgeType: false },
      ],
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'Directive[name.value="deprecated"] > Argument[name.value="reason"] > StringValue[value=/^(?![\\s\\S]*\\d{4}-\\d{2}-\\d{2})/]',
          message:
            'The reason of a deprecation must name the replacement and the earliest date of removal, such as 2027-01-31.',
        },
      ],
    },
  },
];
