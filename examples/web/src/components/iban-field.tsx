import { useEffect, useRef } from 'react';
import { IbanFacts } from '../documents.ts';
import type { Failure } from '../failure.ts';
import { type FragmentType, readFragment } from '../gql/index.ts';
import { couldBeIban } from '../state/iban-text.ts';
import type { IbanTyping } from '../state/use-iban-typing.ts';
import { FailureNotice } from './failure-notice.tsx';
import { IbanAnswer } from './iban-answer.tsx';

interface IbanFieldProps {
  typing: IbanTyping;
  /** Of what is asked now; undefined while there is none. */
  answer: FragmentType<typeof IbanFacts> | null | undefined;
  failure: Failure | null;
  onRetry: () => void;
}

export function IbanField({ typing, answer, failure, onRetry }: IbanFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const { learn } = typing;
  const told = readFragment(IbanFacts, answer);
  const country = told?.country;
  useEffect(() => {
    if (country) learn(country);
  }, [country, learn]);

  // What was asked may be older than what stands there.
  const isCurrent = typing.asked === typing.iban;
  const isTooShort = !typing.isDone && typing.iban.length < (typing.country?.ibanLength ?? 0);
  const facts = isCurrent && !isTooShort ? (told ?? null) : null;
  const isInvalid = facts?.valid === false || (typing.isDone && typing.iban !== '' && !couldBeIban(typing.iban));

  function choose(iban: string) {
    typing.choose(iban);
    input.current?.focus();
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        typing.done();
      }}
    >
      <label htmlFor="iban">IBAN</label>
      <input
        ref={input}
        id="iban"
        className={`iban ${facts?.valid ? 'valid' : isInvalid ? 'invalid' : ''}`}
        value={typing.text}
        placeholder="DE89 3704 0044 0532 0130 00"
        autoComplete="off"
        autoCapitalize="characters"
        spellCheck={false}
        aria-invalid={isInvalid}
        aria-describedby="iban-hint iban-answer"
        onChange={(event) => typing.type(event.target.value)}
        onBlur={typing.done}
      />
      <p id="iban-hint" className="hint">
        {hint(typing)}
      </p>
      <div id="iban-answer" className="answer" aria-live="polite">
        {failure && isCurrent ? (
          <FailureNotice failure={failure} onRetry={onRetry} />
        ) : facts ? (
          <IbanAnswer facts={facts} onChoose={choose} />
        ) : isInvalid ? (
          <p className="notice invalid">An IBAN has two letters, two digits, and 11 to 30 letters and digits more.</p>
        ) : isCurrent && !isTooShort ? (
          <p className="asking">Checking …</p>
        ) : null}
      </div>
    </form>
  );
}

function hint({ iban, country }: IbanTyping): string {
  if (country) return `${country.name}: ${iban.length} of ${country.ibanLength} characters`;
  return 'It is checked as you type: nothing is asked before it could be an IBAN.';
}
