import type { IbanFactsFragment } from '../gql/graphql.ts';
import { nationalCheckMessages, problemMessages } from '../state/labels.ts';
import { Suggestions } from './suggestions.tsx';

interface IbanResultProps {
  facts: IbanFactsFragment;
  onChoose: (iban: string) => void;
}

export function IbanResult({ facts, onChoose }: IbanResultProps) {
  const { valid, problems, suggestions, nationalCheck, country, bankData } = facts;
  if (!valid) {
    return (
      <div className="notice invalid">
        <p>
          <strong>Not valid.</strong> {problems.map((problem) => problemMessages[problem]).join(' ')}
        </p>
        <Suggestions ibans={suggestions} onChoose={onChoose} />
      </div>
    );
  }
  return (
    <div className="notice valid">
      <p>
        <strong>Valid.</strong> {nationalCheckMessages[nationalCheck]}
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
