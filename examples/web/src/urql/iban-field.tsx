import { useQuery } from 'urql';
import { IbanField } from '../components/iban-field.tsx';
import { CheckIban } from '../documents.ts';
import { useIbanTyping } from '../state/use-iban-typing.ts';
import { readFailure } from './read-failure.ts';

export function UrqlIbanField() {
  const typing = useIbanTyping();
  const pause = typing.asked === null;
  const [{ data, error, fetching }, ask] = useQuery({
    query: CheckIban,
    variables: { iban: typing.asked ?? '' },
    pause,
  });
  // While it pauses or fetches, the hook shows what it had before.
  const isOver = !pause && !fetching;
  return (
    <IbanField
      typing={typing}
      answer={isOver ? data?.ibanValidation : undefined}
      failure={isOver ? readFailure(error) : null}
      onRetry={() => ask({ requestPolicy: 'network-only' })}
    />
  );
}
