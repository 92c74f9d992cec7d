import { createNamingConventionTransform, defineConfig } from '@graphql-mesh/compose-cli';
import { loadJSONSchemaSubgraph } from '@omnigraph/json-schema';

/*
 * The part of the REST service that the benchmark queries. Its composition is supergraph.graphql; to compose it again:
 *   npm install --no-save @graphql-mesh/compose-cli @omnigraph/json-schema
 *   npx mesh-compose --config-path mesh.config.js --output supergraph.graphql
 */

const text = { type: 'string' };
const describeObject = (title, properties) => ({ type: 'object', title, properties });

export const composeConfig = defineConfig({
  subgraphs: [
    {
      sourceHandler: loadJSONSchemaSubgraph('BankData', {
        endpoint: '{env.UPSTREAM}',
        operationHeaders: { apikey: '{env.API_KEY}' },
        operations: [
          {
            type: 'Query',
            field: 'ibanValidation',
            method: 'GET',
            path: '/bank_data/iban_validate?iban_number={args.iban}',
            argTypeMap: { iban: { type: 'string', nullable: false } },
            responseSchema: describeObject('IbanValidation', {
              valid: { type: 'boolean' },
              iban: text,
              iban_data: describeObject('IbanData', { country: text, country_code: text, bank_code: text, BBAN: text }),
              bank_data: describeObject('BankData', { name: text, bic: text, city: text }),
            }),
          },
        ],
      }),
      transforms: [createNamingConventionTransform({ fieldNames: 'camelCase' })],
    },
  ],
});
