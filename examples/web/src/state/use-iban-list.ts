import { useState } from 'react';
import type { Failure } from '../failure.ts';
import type { IbanFactsFragment } from '../gql/graphql.ts';
import { readIbans } from './iban-text.ts';

export type RowState = 'waiting' | { facts: IbanFactsFragment } | { failure: Failure };

export interface IbanListing {
  text: string;
  /** What is to be asked, compacted, in the order of the lines; null until somebody asks. */
  asked: readonly string[] | null;
  type(text: string): void;
  /** What was pasted is whole: it is asked at once. */
  paste(text: string): void;
  ask(): void;
  /** The row as it stands: what came of asking for it alone comes before what came with the list. */
  row(iban: string, withTheList: RowState): RowState;
  retry(iban: string): Promise<void>;
}

/** @param askAgain asks for one IBAN whose look-up failed; never rejects */
export function useIbanList(askAgain: (iban: string) => Promise<RowState>): IbanListing {
  const [text, setText] = useState('');
  const [asked, setAsked] = useState<readonly string[] | null>(null);
  const [retried, setRetried] = useState<Readonly<Record<string, RowState>>>({});

  function askFor(lines: string) {
    const ibans = readIbans(lines);
    setAsked(ibans.length === 0 ? null : ibans);
  }

  return {
    text,
    asked,
    type: setText,
    paste(lines) {
      setText(lines);
      askFor(lines);
    },
    ask: () => askFor(text),
    row: (iban, withTheList) =>
      withTheList !== 'waiting' && 'failure' in withTheList ? (retried[iban] ?? withTheList) : withTheList,
    async retry(iban) {
      setRetried((rows) => ({ ...rows, [iban]: 'waiting' }));
      const state = await askAgain(iban);
      setRetried((rows) => ({ ...rows, [iban]: state }));
    },
  };
}
