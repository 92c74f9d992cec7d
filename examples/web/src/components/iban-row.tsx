import { printIban } from '../state/iban-text.ts';
import type { RowState } from '../state/use-iban-list.ts';
import { problemWords } from '../state/words.ts';

interface IbanRowProps {
  iban: string;
  state: RowState;
  onRetry: () => void;
}

export function IbanRow({ iban, state, onRetry }: IbanRowProps) {
  const { kind, word, why } = describe(state);
  return (
    <li className={`row ${kind}`}>
      <span className="iban">{printIban(iban)}</span>
      <span className="verdict">{word}</span>
      {why !== '' && <span className="why">{why}</span>}
      {kind === 'failed' && (
        <button type="button" aria-label={`Try again: ${printIban(iban)}`} onClick={onRetry}>
          Try again
        </button>
      )}
    </li>
  );
}

function describe(state: RowState): { kind: string; word: string; why: string } {
  if (state === 'waiting') return { kind: 'waiting', word: 'waiting', why: '' };
  if ('failure' in state) return { kind: 'failed', word: 'failed', why: state.failure.message };
  const { valid, problems, bankData, country } = state.facts;
  if (valid) return { kind: 'valid', word: 'valid', why: bankData?.name ?? country?.name ?? '' };
  return { kind: 'invalid', word: 'not valid', why: problems.map((problem) => problemWords[problem]).join(' ') };
}
