import { ApolloClient, HttpLink, InMemoryCache } from '@apollo/client';
import possibleTypes from '../gql/possible-types.json';

export function createApolloClient() {
  return new ApolloClient({
    link: new HttpLink({ uri: '/graphql' }),
    cache: new InMemoryCache({
      possibleTypes,
      typePolicies: {
        IbanValidation: { keyFields: ['iban'] },
        IbanCountry: { keyFields: ['code'] },
        Bank: { keyFields: ['bic'] },
        Query: {
          fields: {
            // One that came with a list is known to the field as well.
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
