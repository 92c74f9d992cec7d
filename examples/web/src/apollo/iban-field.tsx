import { skipToken, useQuery } from '@apollo/client/react';
import { IbanField } from '../components/iban-field.tsx';
import { CheckIban } from '../documents.ts';
import { useIbanTyping } from '../state/use-iban-typing.ts';
import { readFailure } from './read-failure.ts';

export function ApolloIbanField() {
  const typing = useIbanTyping();
  const { data, error, loading, refetch } = useQuery(
    CheckIban,
    typing.asked === null ? skipToken : { variables: { iban: typing.asked } },
  );
  return (
    <IbanField
      typing={typing}
      answer={data?.ibanValidation}
      failure={loading ? null : readFailure(error)}
      // How it fails is told by the hook as well.
      onRetry={() => void refetch().catch(() => {})}
    />
  );
}
