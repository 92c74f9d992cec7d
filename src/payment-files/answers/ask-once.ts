import type { Answer, AnswerSource } from './answer.ts';
import { createAnswerTable, fingerprintOf } from './answer-table.ts';
import type { Journal } from './journal.ts';

export interface Answers {
  /** The answer about a well-formed IBAN; each is asked once. Rejects if the journal cannot be written. */
  find(iban: string): Answer | Promise<Answer>;
  /** Takes over the answer of an earlier run. */
  keep(fingerprint: string, answer: Answer): void;
  /** Different IBANs. */
  size(): number;
  /** Resolves when all questions are answered. */
  settled(): Promise<unknown>;
}

/** @param source null: nothing is asked, only counted */
export function createAnswers(source: Pick<AnswerSource, 'ask'> | null, journal: () => Journal | null): Answers {
  const table = createAnswerTable();
  /** By IBAN. */
  const flights = new Map<string, Promise<Answer>>();

  return {
    find(iban) {
      const fingerprint = fingerprintOf(iban);
      const known = table.get(fingerprint);
      if (known !== null) return known;
      if (source === null) {
        table.set(fingerprint, dryRun);
        return dryRun;
      }
      const running = flights.get(iban);
      if (running !== undefined) return running;
      const flight = source.ask(iban).then((answer) => {
        // Before anything else is asked.
        if (answer.kind === 'answered') journal()?.append(fingerprint, answer);
        table.set(fingerprint, answer);
        flights.delete(iban);
        return answer;
      });
      flights.set(iban, flight);
      return flight;
    },
    keep: table.set,
    size: table.size,
    settled: () => Promise.allSettled(flights.values()),
  };
}

const dryRun: Answer = { kind: 'not-asked', reason: 'this is a dry run' };
