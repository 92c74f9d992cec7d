import type { ErrorLike } from '@apollo/client';
import { skipToken, useApolloClient, useQuery } from '@apollo/client/react';
import { IbanList } from '../components/iban-list.tsx';
import { CheckIban, CheckIbans, IbanFacts } from '../documents.ts';
import { unreachable } from '../failure.ts';
import { readFragment } from '../gql/index.ts';
import { type RowState, useIbanList } from '../state/use-iban-list.ts';
import { readFailure, readFailuresByPlace } from './read-failure.ts';

export function ApolloIbanList() {
  const client = useApolloClient();
  const listing = useIbanList(askAgain);
  const { data, error, loading, refetch } = useQuery(
    CheckIbans,
    // 'all': the answers of the others are shown beside the errors, and remembered.
    listing.asked === null ? skipToken : { variables: { ibans: [...listing.asked] }, errorPolicy: 'all' },
  );

  async function askAgain(iban: string): Promise<RowState> {
    try {
      const { data } = await client.query({ query: CheckIban, variables: { iban }, fetchPolicy: 'network-only' });
      const facts = readFragment(IbanFacts, data?.ibanValidation);
      return facts ? { facts } : { failure: unreachable };
    } catch (error) {
      return { failure: readFailure(error as ErrorLike) ?? unreachable };
    }
  }

  return (
    <IbanList
      listing={listing}
      answers={data?.ibanValidations}
      failures={readFailuresByPlace(error)}
      failure={loading || data ? null : readFailure(error)}
      onRetry={() => void refetch().catch(() => {})}
    />
  );
}
