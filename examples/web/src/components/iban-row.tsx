import { formatIban } from '../state/iban-text.ts';
import { problemMessages } from '../state/labels.ts';
import type { RowState } from '../state/use-iban-list.ts';

interface IbanRowProps {
  iban: string;
  state: RowState;
  onRetry: () => void;
}

export function IbanRow({ iban, state, onRetry }: IbanRowProps) {
  const { kind, status, reason } = describe(state);
  return (
    <li className={`row ${kind}`}>
      <span className="iban">{formatIban(iban)}</span>
      <span className="status">{status}</span>
      {reason !== '' && <span className="reason">{reason}</span>}
      {kind === 'failed' && (
        <button type="button" aria-label={`Try again: ${formatIban(iban)}`} onClick={onRetry}>
          Try again
        </button>
      )}
    </li>
  );
}

function describe(state: RowState): { kind: string; status: string; reason: string } {
  if (state === 'waiting') return { kind: 'waiting', status: 'waiting', reason: '' };
  if ('failure' in state) return { kind: 'failed', status: 'failed', reason: state.failure.message };
  const { valid, problems, bankData, country } = state.facts;
  if (valid) return { kind: 'valid', status: 'valid', reason: bankData?.name ?? country?.name ?? '' };
  return {
    kind: 'invalid',
    status: 'not valid',
    reason: problems.map((problem) => problemMessages[problem]).join(' '),
  };
}
