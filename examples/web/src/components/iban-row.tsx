import { useRef } from 'react';
import { kindLabels, type ListRow } from '../state/list-rows.ts';
import { Suggestions } from './suggestions.tsx';

interface IbanRowProps {
  row: ListRow;
  onRetry: () => void;
  onCorrect: (iban: string) => void;
}

export function IbanRow({ row, onRetry, onCorrect }: IbanRowProps) {
  const element = useRef<HTMLLIElement>(null);
  const { index, typed, kind, problem, bank, suggestions } = row;
  // The pressed button disappears with the answer.
  const keepFocus = () => element.current?.focus();
  return (
    <li ref={element} className={`row ${kind}`} tabIndex={-1}>
      <span className="position">{index + 1}</span>
      <span className="iban">{typed}</span>
      <span className="status">{kindLabels[kind]}</span>
      {problem !== '' && <p className="problem">{problem}</p>}
      <Suggestions
        ibans={suggestions}
        onChoose={(iban) => {
          keepFocus();
          onCorrect(iban);
        }}
      />
      {kind === 'failed' && (
        <button
          type="button"
          className="small"
          aria-label={`Try again: ${typed}`}
          onClick={() => {
            keepFocus();
            onRetry();
          }}
        >
          Try again
        </button>
      )}
      {bank !== '' && <p className="bank">{bank}</p>}
    </li>
  );
}
