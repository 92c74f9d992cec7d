import { type ChangeEvent, useRef } from 'react';
import { IbanFacts } from '../documents.ts';
import type { Failure } from '../failure.ts';
import { type FragmentType, readFragment } from '../gql/index.ts';
import { groupWhileTyping, isPossibleIban } from '../state/iban-text.ts';
import type { IbanInput } from '../state/use-iban-input.ts';
import { FailureNotice } from './failure-notice.tsx';
import { IbanResult } from './iban-result.tsx';

interface IbanFieldProps {
  input: IbanInput;
  /** For `input.ibanToCheck`; undefined while it is loading. */
  answer: FragmentType<typeof IbanFacts> | null | undefined;
  failure: Failure | null;
  onRetry: () => void;
}

export function IbanField({ input, answer, failure, onRetry }: IbanFieldProps) {
  const element = useRef<HTMLInputElement>(null);
  const answeredFacts = readFragment(IbanFacts, answer);

  // The answer may be for an earlier text.
  const isCurrent = input.ibanToCheck === input.iban;
  const isTooShort = !input.isComplete && input.iban.length < (input.country?.ibanLength ?? 0);
  // The service could not tell whether it is valid: the failure is shown.
  const isAnswered = answeredFacts !== undefined && answeredFacts !== null && answeredFacts.valid !== null;
  const facts = isCurrent && !isTooShort && isAnswered ? answeredFacts : null;
  const isImpossible = input.iban !== '' && input.ibanToCheck !== input.iban && !isPossibleIban(input.iban);
  const isWithoutIbans = isImpossible && input.countryWithoutIbans !== null;
  const isInvalid = facts?.valid === false || isWithoutIbans || (input.isComplete && isImpossible);

  function type({ target, nativeEvent }: ChangeEvent<HTMLInputElement>) {
    const { inputType = '', isComposing = false } = nativeEvent as InputEvent;
    if (!isComposing) {
      const edit = { text: target.value, caret: target.selectionStart ?? target.value.length };
      const { text, caret } = groupWhileTyping(edit, inputType === 'deleteContentForward');
      target.value = text;
      target.setSelectionRange(caret, caret);
    }
    input.type(target.value, inputType === 'insertFromPaste');
  }

  function choose(iban: string) {
    input.choose(iban);
    element.current?.focus();
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        input.complete();
      }}
    >
      <label htmlFor="iban">IBAN</label>
      <input
        ref={element}
        id="iban"
        className={`iban ${facts?.valid && facts.bankData ? 'valid' : isInvalid ? 'invalid' : ''}`}
        value={input.text}
        placeholder="DE89 3704 0044 0532 0130 00"
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        aria-invalid={isInvalid}
        aria-describedby="iban-hint iban-answer"
        onChange={type}
        onBlur={input.complete}
      />
      <p id="iban-hint" className="hint">
        {hint(input)}
      </p>
      <div id="iban-answer" className="answer" aria-live="polite">
        {failure && isCurrent ? (
          <FailureNotice failure={failure} onRetry={onRetry} />
        ) : facts ? (
          <IbanResult facts={facts} onChoose={choose} />
        ) : isWithoutIbans ? (
          <p className="notice invalid">{describeCountry(input.countryWithoutIbans ?? '')}</p>
        ) : isInvalid ? (
          <p className="notice invalid">An IBAN has 2 letters, 2 digits, and 11 to 30 more letters or digits.</p>
        ) : isCurrent && !isTooShort ? (
          <p className="checking">Checking …</p>
        ) : null}
      </div>
    </form>
  );
}

function hint({ iban, country }: IbanInput): string {
  if (country) return `${country.name}: ${iban.length} of ${country.ibanLength} characters`;
  return 'Checked as you type, once it can be a complete IBAN.';
}

function describeCountry(code: string): string {
  const name = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' }).of(code);
  if (name === undefined) return `${code} is not the code of a country.`;
  return `No IBANs of the SWIFT registry begin with ${code} (${name}): ask the payee for other account details.`;
}
