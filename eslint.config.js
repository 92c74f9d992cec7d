import graphql from '@graphql-eslint/eslint-plugin';

/* ESLint reads schema.graphql and nothing else; the TypeScript is Biome's. */

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
      '@graphql-eslint/input-name': 'error',
      '@graphql-eslint/no-scalar-result-type-on-mutation': 'error',
      '@graphql-eslint/require-description': [
        'error',
        { types: true, rootField: true, FieldDefinition: true, InputValueDefinition: true, EnumValueDefinition: true },
      ],
      // What is no entity, such as a page or a failure, has no key, and those that are have the keys of their trade.
      '@graphql-eslint/strict-id-in-types': 'off',
      // The bank code of a bank is called bank code.
      '@graphql-eslint/no-typename-prefix': 'off',
      // Pages are read forwards; short lists are no pages.
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
          message: 'A deprecation says what to ask instead, and from which date on (2027-01-31) the field may be gone.',
        },
      ],
    },
  },
];
