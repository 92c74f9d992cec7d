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
            // Resolves an IBAN from the cache if a list has loaded it, unless its look-up failed.
            ibanValidation: {
              read(known, { args, toReference, readField }) {
                const cached = known ?? toReference({ __typename: 'IbanValidation', iban: args?.iban });
                return readField('valid', cached) === null ? undefined : cached;
              },
            },
          },
        },
      },
    }),
  });
}
