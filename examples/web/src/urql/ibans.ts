import type { Client } from 'urql';
import { IbanFormats } from '../documents.ts';
import { unreachable } from '../failure.ts';
import type { IbanClient } from '../state/iban-client.ts';
import { readFailure } from './read-failure.ts';

export function createUrqlIbans(client: Client): IbanClient {
  return {
    async formats() {
      const { data, error } = await client.query(IbanFormats, {});
      return data && !error ? { value: data } : { failure: readFailure(error) ?? unreachable };
    },
  };
}
