import type { IbanFactsFragment } from '../gql/graphql.ts';
import { nationalCheckMessages, problemMessages } from '../state/labels.ts';
import { Suggestions } from './suggestions.tsx';

interface IbanResultProps {
  facts: IbanFactsFragment;
  onChoose: (iban: string) => void;
}

export function IbanResult({ facts, onChoose }: IbanResultProps) {
  const { valid, problems, suggestions, nationalCheck, bankCodeStatus, country, bankData } = facts;
  if (!valid) {
    return (
      <div className="notice invalid">
        <p>{problems[0] ? problemMessages[problems[0]] : 'It is not valid.'}</p>
        <Suggestions ibans={suggestions} onChoose={onChoose} />
      </div>
    );
  }
  const isSuspicious = nationalCheck === 'FAILED' || bankCodeStatus === 'NOT_LISTED';
  const kind = isSuspicious ? 'suspicious' : bankData ? 'valid' : 'unknown';
  return (
    <div className={`notice ${kind}`}>
      <p>
        <strong>{headings[kind]}</strong> {nationalCheckMessages[nationalCheck]}
        {bankCodeStatus === 'NOT_LISTED' && ' Its bank code is not in the national list: confirm it with the payee.'}
      </p>
      <dl>
        <dt>Bank</dt>
        <dd>{bankData?.name ?? 'not known'}</dd>
        <dt>BIC</dt>
        <dd>{bankData?.bic ?? 'not known'}</dd>
        <dt>Country</dt>
        <dd>{country?.name ?? 'not known'}</dd>
      </dl>
    </div>
  );
}

const headings = {
  valid: 'Valid.',
  suspicious: 'Valid, but suspicious.',
  unknown: 'Valid, but the bank is not known.',
} as const;
