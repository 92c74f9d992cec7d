import type { ApolloClient } from '@apollo/client';
import { CheckItems, IbanFormats } from '../documents.ts';
import { unreachable } from '../failure.ts';
import { type IbanClient, readAnswers } from '../state/iban-client.ts';
import { readFailure, readFailuresByIndex } from './read-failure.ts';

export function createApolloIbans(client: ApolloClient): IbanClient {
  return {
    async formats() {
      const { data, error } = await client.query({ query: IbanFormats, errorPolicy: 'all' });
      return data && !error ? { value: data } : { failure: readFailure(error) ?? unreachable };
    },
    async check(items, signal) {
      try {
        const { data, error } = await client.query({
          query: CheckItems,
          variables: { items: [...items] },
          // A file may have more IBANs than the memory of a browser should keep.
          fetchPolicy: 'no-cache',
          errorPolicy: 'all',
          context: { fetchOptions: { signal } },
        });
        const answers = data?.ibanValidations;
        if (!answers) return { failure: readFailure(error) ?? unreachable };
        return { value: readAnswers(items, answers, readFailuresByIndex(error)) };
      } catch {
        return { failure: unreachable };
      }
    },
  };
}
