import type { ErrorLike } from '@apollo/client';
import { skipToken, useApolloClient, useQuery } from '@apollo/client/react';
import { IbanList, readAnswer } from '../components/iban-list.tsx';
import { CheckIban, CheckIbans } from '../documents.ts';
import { unreachable } from '../failure.ts';
import { type RowState, useIbanList } from '../state/use-iban-list.ts';
import { readFailure, readFailuresByIndex } from './read-failure.ts';

export function ApolloIbanList() {
  const client = useApolloClient();
  const list = useIbanList(recheck);
  const { data, error, loading, refetch } = useQuery(
    CheckIbans,
    // 'all': show and cache the other results despite errors.
    list.ibansToCheck === null ? skipToken : { variables: { ibans: [...list.ibansToCheck] }, errorPolicy: 'all' },
  );

  // Not cached: the rows would be sorted again while the user works in them.
  async function recheck(iban: string): Promise<RowState> {
    try {
      const { data } = await client.query({ query: CheckIban, variables: { iban }, fetchPolicy: 'no-cache' });
      return readAnswer(data?.ibanValidation) ?? { failure: unreachable };
    } catch (error) {
      return { failure: readFailure(error as ErrorLike) ?? unreachable };
    }
  }

  return (
    <IbanList
      list={list}
      answers={data?.ibanValidations}
      failures={readFailuresByIndex(error)}
      failure={loading || data ? null : readFailure(error)}
      onRetry={() => void refetch().catch(() => {})}
    />
  );
}
