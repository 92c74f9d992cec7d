import { useState } from 'react';
import type { Failure } from '../failure.ts';
import type { IbanFactsFragment } from '../gql/graphql.ts';
import { readIbans } from './iban-text.ts';

export type RowState = 'waiting' | { facts: IbanFactsFragment } | { failure: Failure };

export interface IbanListState {
  text: string;
  /** Compacted, in the order of the text; null until the user checks a list. */
  ibansToCheck: readonly string[] | null;
  type(text: string): void;
  /** Sets the text and checks it immediately. */
  paste(text: string): void;
  check(): void;
  /** The current state of a row, from its retry if there was one, else `listState`. */
  row(iban: string, listState: RowState): RowState;
  retry(iban: string): Promise<void>;
}

/** @param recheck repeats the look-up of one IBAN; never rejects */
export function useIbanList(recheck: (iban: string) => Promise<RowState>): IbanListState {
  const [text, setText] = useState('');
  const [ibansToCheck, setIbansToCheck] = useState<readonly string[] | null>(null);
  const [retried, setRetried] = useState<Readonly<Record<string, RowState>>>({});

  function check(lines: string) {
    const ibans = readIbans(lines);
    setIbansToCheck(ibans.length === 0 ? null : ibans);
  }

  return {
    text,
    ibansToCheck,
    type: setText,
    paste(lines) {
      setText(lines);
      check(lines);
    },
    check: () => check(text),
    row: (iban, listState) =>
      listState !== 'waiting' && 'failure' in listState ? (retried[iban] ?? listState) : listState,
    async retry(iban) {
      setRetried((rows) => ({ ...rows, [iban]: 'waiting' }));
      const state = await recheck(iban);
      setRetried((rows) => ({ ...rows, [iban]: state }));
    },
  };
}
