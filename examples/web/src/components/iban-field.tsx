import { type ChangeEvent, useEffect, useRef } from 'react';
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
  const { addCountry } = input;
  const answeredFacts = readFragment(IbanFacts, answer);
  const country = answeredFacts?.country;
  useEffect(() => {
    if (country) addCountry(country);
  }, [country, addCountry]);

  // The answer may be for an earlier text.
  const isCurrent = input.ibanToCheck === input.iban;
  const isTooShort = !input.isComplete && input.iban.length < (input.country?.ibanLength ?? 0);
  // The service could not tell whether it is valid: the failure is shown.
  const isAnswered = answeredFacts !== undefined && answeredFacts !== null && answeredFacts.valid !== null;
  const facts = isCurrent && !isTooShort && isAnswered ? answeredFacts : null;
  const isInvalid = facts?.valid === false || (input.isComplete && input.iban !== '' && !isPossibleIban(input.iban));

  function type({ target, nativeEvent }: ChangeEvent<HTMLInputElement>) {
    const { inputType = '', isComposing = false } = nativeEvent as InputEvent;
    if (!isComposing) {
      const edit = { text: target.value, caret: target.selectionStart ?? target.value.length };
      const { text, caret } = groupWhileTyping(edit, inputType === 'deleteContentForward');
      target.value = text;
      target.setSelectionRange(caret, caret);
    }
    input.type(target.value);
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
        className={`iban ${facts?.valid ? 'valid' : isInvalid ? 'invalid' : ''}`}
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
