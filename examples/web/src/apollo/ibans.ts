import type { ApolloClient } from '@apollo/client';
import { IbanFormats } from '../documents.ts';
import { unreachable } from '../failure.ts';
import type { IbanClient } from '../state/iban-client.ts';
import { readFailure } from './read-failure.ts';

export function createApolloIbans(client: ApolloClient): IbanClient {
  return {
    async formats() {
      const { data, error } = await client.query({ query: IbanFormats, errorPolicy: 'all' });
      return data && !error ? { value: data } : { failure: readFailure(error) ?? unreachable };
    },
  };
}
