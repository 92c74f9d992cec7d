import type { Client } from 'urql';
import { CheckItems, IbanFormats } from '../documents.ts';
import { unreachable } from '../failure.ts';
import { type IbanClient, readAnswers } from '../state/iban-client.ts';
import { readFailure, readFailuresByIndex } from './read-failure.ts';

export function createUrqlIbans(client: Client): IbanClient {
  return {
    async formats() {
      const { data, error } = await client.query(IbanFormats, {});
      return data && !error ? { value: data } : { failure: readFailure(error) ?? unreachable };
    },
    async check(items, signal) {
      const { data, error } = await client.query(
        CheckItems,
        { items: [...items] },
        { requestPolicy: 'network-only', fetch: (url, options) => fetch(url, { ...options, signal }) },
      );
      const answers = data?.ibanValidations;
      if (!answers) return { failure: readFailure(error) ?? unreachable };
      return { value: readAnswers(items, answers, readFailuresByIndex(error)) };
    },
  };
}
