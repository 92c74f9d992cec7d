import { useId } from 'react';
import { formatIban } from '../state/iban-text.ts';

interface SuggestionsProps {
  ibans: readonly string[];
  /** Those that only the downloaded file has. */
  furtherCount?: number;
  /** Without it, they are texts. */
  onChoose?: (iban: string) => void;
}

/** Valid IBANs that were probably meant, as buttons if one can be chosen. */
export function Suggestions({ ibans, furtherCount = 0, onChoose }: SuggestionsProps) {
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
        {furtherCount > 0 && <li>and {furtherCount} more in the downloaded file</li>}
      </ul>
    </div>
  );
}
