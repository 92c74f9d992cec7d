import { useClient, useQuery } from 'urql';
import { IbanList, readAnswer } from '../components/iban-list.tsx';
import { CheckIban, CheckIbans } from '../documents.ts';
import { unreachable } from '../failure.ts';
import { type RowState, useIbanList } from '../state/use-iban-list.ts';
import { readFailure, readFailuresByIndex } from './read-failure.ts';

export function UrqlIbanList() {
  const client = useClient();
  const list = useIbanList(recheck);
  const pause = list.ibansToCheck === null;
  const [{ data, error, fetching }, refetch] = useQuery({
    query: CheckIbans,
    variables: { ibans: [...(list.ibansToCheck ?? [])] },
    pause,
  });
  const isLoaded = !pause && !fetching;

  async function recheck(iban: string): Promise<RowState> {
    const { data, error } = await client.query(CheckIban, { iban }, { requestPolicy: 'network-only' });
    return readAnswer(data?.ibanValidation) ?? { failure: readFailure(error) ?? unreachable };
  }

  return (
    <IbanList
      list={list}
      answers={isLoaded ? data?.ibanValidations : undefined}
      failures={readFailuresByIndex(error)}
      failure={isLoaded && !data ? readFailure(error) : null}
      onRetry={() => refetch({ requestPolicy: 'network-only' })}
    />
  );
}
