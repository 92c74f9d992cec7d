import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import possibleTypes from '../../../../possibleTypes.json';

export function createApolloClient() {
  return new ApolloClient({
    link: new HttpLink({ uri: '/graphql' }),
    cache: new InMemoryCache({
      possibleTypes,
      typePolicies: {
        IbanValidation: { keyFields: ['iban'] },
        IbanCountry: { keyFields: ['code'] },
        Query: {
          fields: {
            // Resolves an IBAN from the cache if a list has loaded it.
            ibanValidation: {
              read: (known, { args, toReference }) =>
                known === undefined ? toReference({ __typename: 'IbanValidation', iban: args?.iban }) : known,
            },
          },
        },
      },
    }),
  });
}
