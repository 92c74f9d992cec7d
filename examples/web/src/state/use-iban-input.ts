import { useState } from 'react';
import type { IbanFactsFragment } from '../gql/graphql.ts';
import { compactIban, formatIban, isPossibleIban } from './iban-text.ts';
import { useDebounced } from './use-debounced.ts';

type Country = NonNullable<IbanFactsFragment['country']>;

export interface IbanInput {
  text: string;
  /** The current text, compacted. */
  iban: string;
  /** Compacted; null while the text cannot be a complete IBAN. */
  ibanToCheck: string | null;
  /** The user has left the field or pressed Enter. */
  isComplete: boolean;
  /** The country of the text, once an answer has returned it. */
  country: Country | null;
  type(text: string): void;
  complete(): void;
  choose(iban: string): void;
  addCountry(country: Country): void;
}

/**
 * Decides when to check the typed text: after a pause, if it can be an IBAN. The first answer contains the IBAN length of
 * the country; after that, shorter texts are not checked.
 */
export function useIbanInput(): IbanInput {
  const [text, setText] = useState('');
  const [isComplete, setIsComplete] = useState(false);
  const [countries, setCountries] = useState<Readonly<Record<string, Country>>>({});
  const debouncedText = useDebounced(text, pauseMs);

  const candidate = compactIban(isComplete ? text : debouncedText);
  const length = countries[candidate.slice(0, 2)]?.ibanLength ?? 0;
  const isDue = isPossibleIban(candidate) && (isComplete || candidate.length >= length);
  const iban = compactIban(text);

  return {
    text,
    iban,
    ibanToCheck: isDue ? candidate : null,
    isComplete,
    country: countries[iban.slice(0, 2)] ?? null,
    type(typed) {
      setText(typed);
      setIsComplete(false);
    },
    complete: () => setIsComplete(true),
    choose(chosen) {
      setText(formatIban(chosen));
      setIsComplete(true);
    },
    addCountry(country) {
      setCountries((known) => (known[country.code] ? known : { ...known, [country.code]: country }));
    },
  };
}

const pauseMs = 250;
