import { useState } from 'react';
import type { Failure } from '../failure.ts';
import type { IbanFactsFragment } from '../gql/graphql.ts';
import { type ListEntry, readEntries, replaceEntry } from './iban-text.ts';
import { storedText } from './stored-text.ts';

export type RowState = 'waiting' | { facts: IbanFactsFragment } | { failure: Failure };

export interface IbanListState {
  text: string;
  /** In the order of the text; empty until the user checks a list. */
  entries: readonly ListEntry[];
  /** The IBANs of the request, compacted; null until the user checks a list. */
  ibansToCheck: readonly string[] | null;
  /** How many lists the user has checked. */
  checks: number;
  type(text: string): void;
  /** Sets the text, and checks it immediately. */
  paste(text: string): void;
  check(): void;
  /** The current state of an entry: that of its retry or correction if there was one, else `listState`. */
  row(index: number, listState: RowState): RowState;
  retry(index: number): void;
  /** Replaces an entry, also in the text, and looks up only this one. */
  correct(index: number, iban: string): void;
}

/** @param recheck repeats the look-up of one IBAN; never rejects */
export function useIbanList(recheck: (iban: string) => Promise<RowState>): IbanListState {
  // A list that was checked before a reload is checked again.
  const [text, setText] = useState(stored.read);
  const [entries, setEntries] = useState<readonly ListEntry[]>(() => readEntries(text));
  const [ibansToCheck, setIbansToCheck] = useState(() => toIbans(entries));
  const [checks, setChecks] = useState(0);
  const [rechecked, setRechecked] = useState<Readonly<Record<string, RowState>>>({});

  function check(lines: string) {
    const read = readEntries(lines);
    setChecks((count) => count + 1);
    setEntries(read);
    setIbansToCheck(toIbans(read));
    stored.write(lines);
  }

  async function lookUp(iban: string) {
    setRechecked((rows) => ({ ...rows, [iban]: 'waiting' }));
    const state = await recheck(iban);
    setRechecked((rows) => ({ ...rows, [iban]: state }));
  }

  return {
    text,
    entries,
    ibansToCheck,
    checks,
    type(lines) {
      setText(lines);
      if (lines === '') stored.write('');
    },
    paste(lines) {
      setText(lines);
      check(lines);
    },
    check: () => check(text),
    row(index, listState) {
      const iban = entries[index]?.iban ?? '';
      if (iban !== ibansToCheck?.[index]) return rechecked[iban] ?? 'waiting';
      return listState !== 'waiting' && 'failure' in listState ? (rechecked[iban] ?? listState) : listState;
    },
    retry: (index) => void lookUp(entries[index]?.iban ?? ''),
    correct(index, iban) {
      const corrected = replaceEntry({ text, entries }, index, iban);
      setText(corrected.text);
      stored.write(corrected.text);
      setEntries(corrected.entries);
      void lookUp(iban);
    },
  };
}

const stored = storedText('iban-list');

function toIbans(entries: readonly ListEntry[]): readonly string[] | null {
  return entries.length === 0 ? null : entries.map(({ iban }) => iban);
}
