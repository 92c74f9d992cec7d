import { buildFederationSchema } from '@mercuriusjs/federation';
import DataLoader from 'dataloader';
import fastify from 'fastify';
import mercurius from 'mercurius';
import { validateIban } from '../comparison/validate-iban.js';
import { typeDefs } from './schema.js';

/*
 * Mercurius, which compiles a query with graphql-jit when it comes again. Its own loaders resolve single fields, so that
 * the list and the entities would not share calls with each other; hence a DataLoader per request.
 */

const app = fastify();

app.register(mercurius, {
  schema: buildFederationSchema(typeDefs),
  resolvers: {
    Query: {
      ibanValidation: (_, { iban }, { validations }) => validations.load(iban),
      ibanValidations: (_, { ibans }, { validations }) => validations.loadMany(ibans),
    },
    IbanValidation: {
      __resolveReference: ({ iban }, _, { validations }) => validations.load(iban),
    },
  },
  context: () => ({ validations: new DataLoader((ibans) => Promise.all(ibans.map(validateIban))) }),
  jit: 1,
});

await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
