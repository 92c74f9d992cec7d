import type { IbanFactsFragment } from '../gql/graphql.ts';
import { printIban } from '../state/iban-text.ts';
import { nationalCheckWords, problemWords } from '../state/words.ts';

interface IbanAnswerProps {
  facts: IbanFactsFragment;
  onChoose: (iban: string) => void;
}

export function IbanAnswer({ facts, onChoose }: IbanAnswerProps) {
  const { valid, problems, suggestions, nationalCheck, country, bankData } = facts;
  if (!valid) {
    return (
      <div className="notice invalid">
        <p>
          <strong>Not valid.</strong> {problems.map((problem) => problemWords[problem]).join(' ')}
        </p>
        {suggestions.length > 0 && (
          <>
            <p id="suggestions-label">Was it meant to be</p>
            <ul className="suggestions" aria-labelledby="suggestions-label">
              {suggestions.map((iban) => (
                <li key={iban}>
                  <button type="button" className="iban" onClick={() => onChoose(iban)}>
                    {printIban(iban)}
                  </button>
                </li>
              ))}
            </ul>
          </>
        )}
      </div>
    );
  }
  return (
    <div className="notice valid">
      <p>
        <strong>Valid.</strong> {nationalCheckWords[nationalCheck]}
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
