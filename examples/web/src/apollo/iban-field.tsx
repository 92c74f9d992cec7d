import { skipToken, useQuery } from '@apollo/client/react';
import { IbanField } from '../components/iban-field.tsx';
import { CheckIban } from '../documents.ts';
import type { IbanClient } from '../state/iban-client.ts';
import { useIbanInput } from '../state/use-iban-input.ts';
import { readFailure } from './read-failure.ts';

export function ApolloIbanField({ ibans }: { ibans: IbanClient }) {
  const input = useIbanInput(ibans);
  const { data, error, loading, refetch } = useQuery(
    CheckIban,
    input.ibanToCheck === null ? skipToken : { variables: { iban: input.ibanToCheck } },
  );
  return (
    <IbanField
      input={input}
      answer={data?.ibanValidation}
      failure={loading ? null : readFailure(error)}
      // The hook returns the error as well.
      onRetry={() => void refetch().catch(() => {})}
    />
  );
}
