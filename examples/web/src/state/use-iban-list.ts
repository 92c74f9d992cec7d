import { useRef, useState } from 'react';
import type { Failure } from '../failure.ts';
import type { IbanFactsFragment } from '../gql/graphql.ts';
import { readIbanColumn } from './check-file.ts';
import { isTable, type ListEntry, readEntries, replaceEntry } from './iban-text.ts';
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
  /** The last one that was not undone; null after the user has changed the text. */
  correction: Correction | null;
  /** Replaces the other entries with the same wrong IBAN. */
  correctOthers(): void;
  undo(): void;
  /** The text was changed after the check, so the results are of an earlier one. */
  isStale: boolean;
  /** The text is the column of IBANs of a pasted table. */
  isColumn: boolean;
}

export interface Correction {
  /** Compacted. */
  wrong: string;
  iban: string;
  /** How many entries were replaced. */
  count: number;
  /** How many entries are still the same wrong IBAN. */
  others: number;
}

interface Content {
  text: string;
  entries: readonly ListEntry[];
}

/** @param recheck repeats the look-up of one IBAN; never rejects */
export function useIbanList(recheck: (iban: string) => Promise<RowState>): IbanListState {
  // A list that was checked before a reload is checked again.
  const [text, setText] = useState(stored.read);
  const [entries, setEntries] = useState<readonly ListEntry[]>(() => readEntries(text));
  const [ibansToCheck, setIbansToCheck] = useState(() => toIbans(entries));
  const [checks, setChecks] = useState(0);
  const [rechecked, setRechecked] = useState<Readonly<Record<string, RowState>>>({});
  const [corrections, setCorrections] = useState<readonly (Correction & { before: Content })[]>([]);
  const [isColumn, setIsColumn] = useState(false);
  const current = useRef(text);

  function write(lines: string) {
    current.current = lines;
    setText(lines);
    setCorrections([]);
    setIsColumn(false);
  }

  function check(lines: string) {
    const read = readEntries(lines);
    setCorrections([]);
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

  function replace({ text, entries }: Content) {
    current.current = text;
    setText(text);
    stored.write(text);
    setEntries(entries);
  }

  function correctAll(indexes: readonly number[], iban: string) {
    const before = { text, entries };
    const wrong = entries[indexes[0] ?? 0]?.iban ?? '';
    const after = indexes.reduce((content, index) => replaceEntry(content, index, iban), before);
    const others = after.entries.filter((entry) => entry.iban === wrong).length;
    setCorrections([...corrections, { wrong, iban, count: indexes.length, others, before }]);
    replace(after);
  }

  const correction = corrections.at(-1) ?? null;
  return {
    text,
    entries,
    ibansToCheck,
    checks,
    type(lines) {
      write(lines);
      if (lines === '') check('');
    },
    paste(lines) {
      write(lines);
      if (!isTable(lines)) return check(lines);
      void readIbanColumn(lines).then((ibans) => {
        // The user may have changed it since then.
        if (current.current !== lines) return;
        const column = ibans?.join('\n') ?? lines;
        write(column);
        setIsColumn(ibans !== null);
        check(column);
      });
    },
    check: () => check(text),
    row(index, listState) {
      const iban = entries[index]?.iban ?? '';
      if (iban !== ibansToCheck?.[index]) return rechecked[iban] ?? 'waiting';
      return listState !== 'waiting' && 'failure' in listState ? (rechecked[iban] ?? listState) : listState;
    },
    retry: (index) => void lookUp(entries[index]?.iban ?? ''),
    correct(index, iban) {
      correctAll([index], iban);
      void lookUp(iban);
    },
    correction,
    correctOthers() {
      if (correction === null) return;
      const indexes = entries.flatMap((entry, index) => (entry.iban === correction.wrong ? [index] : []));
      correctAll(indexes, correction.iban);
    },
    undo() {
      if (correction === null) return;
      replace(corrections.at(-1)?.before ?? { text, entries });
      setCorrections(corrections.slice(0, -1));
    },
    isStale: entries.length > 0 && String(toIbans(readEntries(text))) !== String(toIbans(entries)),
    isColumn,
  };
}

const stored = storedText('iban-list');

function toIbans(entries: readonly ListEntry[]): readonly string[] | null {
  return entries.length === 0 ? null : entries.map(({ iban }) => iban);
}
