import { useId } from 'react';
import { formatIban } from '../state/iban-text.ts';

interface SuggestionsProps {
  ibans: readonly string[];
  /** Without it, they are texts. */
  onChoose?: (iban: string) => void;
}

/** Valid IBANs that were probably meant, as buttons if one can be chosen. */
export function Suggestions({ ibans, onChoose }: SuggestionsProps) {
  const label = useId();
  if (ibans.length === 0) return null;
  return (
    <div className="suggestions">
      <p id={label}>Did you mean:</p>
      <ul aria-labelledby={label}>
        {ibans.map((iban) => (
          <li key={iban}>
            {onChoose === undefined ? (
              <span className="iban">{formatIban(iban)}</span>
            ) : (
              <button type="button" className="iban" onClick={() => onChoose(iban)}>
                {formatIban(iban)}
              </button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}
