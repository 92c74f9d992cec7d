import { RESTDataSource } from '@apollo/datasource-rest';
import { ApolloServer } from '@apollo/server';
import { startStandaloneServer } from '@apollo/server/standalone';
import { buildSubgraphSchema } from '@apollo/subgraph';
import { parse } from 'graphql';
import { readValidation } from '../comparison/validate-iban.js';
import { typeDefs } from './schema.js';

/* Apollo Server with a RESTDataSource per request, which sends equal GET requests once. */

class BankData extends RESTDataSource {
  baseURL = process.env.UPSTREAM;

  willSendRequest(_path, request) {
    request.headers.apikey = process.env.API_KEY;
  }

  async validate(iban) {
    return readValidation(await this.get('bank_data/iban_validate', { params: { iban_number: iban } }));
  }
}

const server = new ApolloServer({
  schema: buildSubgraphSchema({
    typeDefs: parse(typeDefs),
    resolvers: {
      Query: {
        ibanValidation: (_, { iban }, { bankData }) => bankData.validate(iban),
        ibanValidations: (_, { ibans }, { bankData }) => ibans.map((iban) => bankData.validate(iban)),
      },
      IbanValidation: {
        __resolveReference: ({ iban }, { bankData }) => bankData.validate(iban),
      },
    },
  }),
});

await startStandaloneServer(server, {
  context: async () => ({ bankData: new BankData({ cache: server.cache }) }),
  listen: { port: Number(process.env.PORT), host: '127.0.0.1' },
});
