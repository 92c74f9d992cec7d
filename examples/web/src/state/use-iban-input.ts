import { useState } from 'react';
import type { Format, IbanClient } from './iban-client.ts';
import { formatIban, isLabelled, isPossibleIban, toIbanQuery } from './iban-text.ts';
import { useDebounced } from './use-debounced.ts';
import { useFormats } from './use-formats.ts';

export interface IbanInput {
  text: string;
  /** The current text, compacted. */
  iban: string;
  /** Compacted; null while the text cannot be a complete IBAN. */
  ibanToCheck: string | null;
  /** The user has left the field or pressed Enter. */
  isComplete: boolean;
  /** The country of the text; null while it is not known. */
  country: Format | null;
  /** The code with which the text begins, if no IBANs begin with it. */
  countryWithoutIbans: string | null;
  /** @param isPasted a label is read at once; while it is typed, its end is not known */
  type(text: string, isPasted: boolean): void;
  complete(): void;
  choose(iban: string): void;
}

/** Decides when to check the typed text: after a pause, if it has the length of IBANs of its country; with a label, once it is complete. */
export function useIbanInput(ibans: IbanClient): IbanInput {
  const [text, setText] = useState('');
  const [isComplete, setIsComplete] = useState(false);
  const formats = useFormats(ibans);
  const debouncedText = useDebounced(text, pauseMs);

  const candidate = toIbanQuery(isComplete ? text : debouncedText);
  const length = formats?.get(candidate.slice(0, 2))?.ibanLength ?? 0;
  const isTyped = isPossibleIban(candidate) && (isComplete || candidate.length >= length);
  const isDue = isTyped || (isComplete && isLabelled(candidate) && /\d/.test(candidate));
  const iban = toIbanQuery(text);
  const code = iban.slice(0, 2);
  const country = formats?.get(code) ?? null;

  return {
    text,
    iban,
    ibanToCheck: isDue ? candidate : null,
    isComplete,
    country,
    countryWithoutIbans:
      formats !== null && country === null && /^[A-Z]{2}$/.test(code) && !isLabelled(iban) ? code : null,
    type(typed, isPasted) {
      setText(typed);
      setIsComplete(isPasted && isLabelled(toIbanQuery(typed)));
    },
    complete: () => setIsComplete(true),
    choose(chosen) {
      setText(formatIban(chosen));
      setIsComplete(true);
    },
  };
}

const pauseMs = 250;
