import type { IbanFormatsQuery } from '../gql/graphql.ts';
import type { Answer } from './essay-client.ts';

/** How the page asks about formats, with either GraphQL client. Promises never reject. */
export interface IbanClient {
  /** The formats of all countries with IBANs. Asked once. */
  formats(): Promise<Answer<IbanFormatsQuery>>;
}

export type Format = IbanFormatsQuery['countries'][number];
