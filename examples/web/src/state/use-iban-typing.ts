import { useState } from 'react';
import { compactIban, couldBeIban, printIban } from './iban-text.ts';
import { useDebounced } from './use-debounced.ts';

/** As far as it says when an IBAN is typed to its end. */
export interface TypedCountry {
  code: string;
  name: string;
  ibanLength: number;
}

export interface IbanTyping {
  text: string;
  /** What stands in the field now, compacted. */
  iban: string;
  /** What is to be asked, compacted; null while it is too early to ask. */
  asked: string | null;
  /** Whoever types has left the field or pressed Enter: what stands there is meant to be whole. */
  isDone: boolean;
  /** How its country writes IBANs, once an answer has told it. */
  country: TypedCountry | null;
  type(text: string): void;
  done(): void;
  choose(iban: string): void;
  learn(country: TypedCountry): void;
}

/**
 * Decides when to ask about what is typed: after a pause, and only what could be an IBAN. The first answer tells how
 * long the IBANs of the country are; from then on nothing shorter is asked, however slowly one types.
 */
export function useIbanTyping(): IbanTyping {
  const [text, setText] = useState('');
  const [isDone, setIsDone] = useState(false);
  const [countries, setCountries] = useState<Readonly<Record<string, TypedCountry>>>({});
  const settled = useDebounced(text, pauseMs);

  const candidate = compactIban(isDone ? text : settled);
  const length = countries[candidate.slice(0, 2)]?.ibanLength ?? 0;
  const isDue = couldBeIban(candidate) && (isDone || candidate.length >= length);
  const iban = compactIban(text);

  return {
    text,
    iban,
    asked: isDue ? candidate : null,
    isDone,
    country: countries[iban.slice(0, 2)] ?? null,
    type(typed) {
      setText(typed);
      setIsDone(false);
    },
    done: () => setIsDone(true),
    choose(chosen) {
      setText(printIban(chosen));
      setIsDone(true);
    },
    learn(country) {
      setCountries((known) => (known[country.code] ? known : { ...known, [country.code]: country }));
    },
  };
}

const pauseMs = 250;
