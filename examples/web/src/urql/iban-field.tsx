import { useQuery } from 'urql';
import { IbanField } from '../components/iban-field.tsx';
import { CheckIban } from '../documents.ts';
import type { IbanClient } from '../state/iban-client.ts';
import { useIbanInput } from '../state/use-iban-input.ts';
import { readFailure } from './read-failure.ts';

export function UrqlIbanField({ ibans }: { ibans: IbanClient }) {
  const input = useIbanInput(ibans);
  const pause = input.ibanToCheck === null;
  const [{ data, error, fetching }, refetch] = useQuery({
    query: CheckIban,
    variables: { iban: input.ibanToCheck ?? '' },
    pause,
  });
  // While paused or fetching, the hook returns the previous result.
  const isLoaded = !pause && !fetching;
  return (
    <IbanField
      input={input}
      answer={isLoaded ? data?.ibanValidation : undefined}
      failure={isLoaded ? readFailure(error) : null}
      onRetry={() => refetch({ requestPolicy: 'network-only' })}
    />
  );
}
