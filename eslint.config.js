import graphql from '@graphql-eslint/eslint-plugin';

/* ESLint checks schema.graphql only; Biome checks the TypeScript. */

const { rules: recommended } = graphql.configs['flat/schema-recommended'];
const { rules: relay } = graphql.configs['flat/schema-relay'];

export default [
  {
    files: ['schema.graphql'],
    plugins: { '@graphql-eslint': graphql },
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: './schema.graphql' } } },
    rules: {
      ...recommended,
      ...relay,
      '@graphql-eslint/no-scalar-result-type-on-mutation': 'error',
      '@graphql-eslint/require-description': [
        'error',
        { types: true, rootField: true, FieldDefinition: true, InputValueDefinition: true, EnumValueDefinition: true },
      ],
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
