import { IbanFacts } from '../documents.ts';
import { type Failure, unknownFailure } from '../failure.ts';
import type { CheckItemsQuery, IbanFactsFragment, IbanFormatsQuery, IbanItem } from '../gql/graphql.ts';
import { readFragment } from '../gql/index.ts';
import type { Answer } from './essay-client.ts';

/** How the page asks about IBANs of files, and about formats, with either GraphQL client. Promises never reject. */
export interface IbanClient {
  /** The formats of all countries with IBANs, and the limits of the gateway. Asked once. */
  formats(): Promise<Answer<IbanFormatsQuery>>;
  /**
   * Checks at most `limits.ibans` IBANs with one request.
   * @param signal aborts the request
   * @returns the answers by reference
   */
  check(items: readonly IbanItem[], signal: AbortSignal): Promise<Answer<ReadonlyMap<string, IbanAnswer>>>;
}

/** With all BICs that are known of its bank; a failure if the look-up of this IBAN failed. */
export type IbanAnswer = { facts: IbanFactsFragment; bics: readonly string[] } | { failure: Failure };

export type Format = IbanFormatsQuery['countries'][number];

/** The answers of a request by reference. @param failures failed look-ups by index */
export function readAnswers(
  items: readonly IbanItem[],
  answers: NonNullable<CheckItemsQuery['ibanValidations']>,
  failures: ReadonlyMap<number, Failure>,
): Map<string, IbanAnswer> {
  return new Map(
    answers.map((answer, index): [string, IbanAnswer] => {
      const reference = answer?.reference ?? items[index]?.reference ?? '';
      const facts = readFragment(IbanFacts, answer);
      if (answer && facts && facts.valid !== null) return [reference, { facts, bics: answer.bics }];
      return [reference, { failure: failures.get(index) ?? unknownFailure }];
    }),
  );
}
