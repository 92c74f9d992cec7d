import { useClient, useQuery } from 'urql';
import { IbanList } from '../components/iban-list.tsx';
import { CheckIban, CheckIbans, IbanFacts } from '../documents.ts';
import { unreachable } from '../failure.ts';
import { readFragment } from '../gql/index.ts';
import { type RowState, useIbanList } from '../state/use-iban-list.ts';
import { readFailure, readFailuresByPlace } from './read-failure.ts';

export function UrqlIbanList() {
  const client = useClient();
  const listing = useIbanList(askAgain);
  const pause = listing.asked === null;
  const [{ data, error, fetching }, ask] = useQuery({
    query: CheckIbans,
    variables: { ibans: [...(listing.asked ?? [])] },
    pause,
  });
  const isOver = !pause && !fetching;

  async function askAgain(iban: string): Promise<RowState> {
    const again = await client.query(CheckIban, { iban }, { requestPolicy: 'network-only' });
    const facts = readFragment(IbanFacts, again.data?.ibanValidation);
    return facts ? { facts } : { failure: readFailure(again.error) ?? unreachable };
  }

  return (
    <IbanList
      listing={listing}
      answers={isOver ? data?.ibanValidations : undefined}
      failures={readFailuresByPlace(error)}
      failure={isOver && !data ? readFailure(error) : null}
      onRetry={() => ask({ requestPolicy: 'network-only' })}
    />
  );
}
