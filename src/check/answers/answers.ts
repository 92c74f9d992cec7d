import { FingerprintMap, fingerprintOf } from '../fingerprints.ts';
import type { Answer, AnswerSource } from './answer-source.ts';
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

/**
 * The answers about millions of IBANs: equal ones are kept once, as banks are few.
 * @param source null: nothing is asked, only counted
 */
export function createAnswers(
  source: Pick<AnswerSource, 'ask'> | null,
  journal: () => Journal | null = () => null,
): Answers {
  const answers: Answer[] = [];
  /** The number of an answer is its place in `answers`, from 1: by its content, and by IBAN. */
  const numbers = new Map<string, number>();
  const numbersOfIbans = new FingerprintMap();
  const dryRunNumber = answers.push(dryRun);
  /** By IBAN. */
  const flights = new Map<string, Promise<Answer>>();

  function keep(fingerprint: string, answer: Answer): void {
    const content = JSON.stringify(answer);
    const number = numbers.get(content) ?? answers.push(answer);
    numbers.set(content, number);
    numbersOfIbans.set(fingerprint, number);
  }

  async function keepOnce(iban: string, fingerprint: string, asked: Promise<Answer>): Promise<Answer> {
    const answer = await asked;
    // On the disk before anything else is asked.
    if (answer.kind === 'answered') journal()?.append(fingerprint, answer);
    keep(fingerprint, answer);
    flights.delete(iban);
    return answer;
  }

  return {
    find(iban) {
      const fingerprint = fingerprintOf(iban);
      const known = answers[(numbersOfIbans.get(fingerprint) ?? 0) - 1] ?? flights.get(iban);
      if (known !== undefined) return known;
      if (source === null) {
        numbersOfIbans.set(fingerprint, dryRunNumber);
        return dryRun;
      }
      const asked = source.ask(iban);
      if (!(asked instanceof Promise)) return asked;
      const flight = keepOnce(iban, fingerprint, asked);
      flights.set(iban, flight);
      return flight;
    },
    keep,
    size: () => numbersOfIbans.size,
    settled: () => Promise.allSettled(flights.values()),
  };
}

const dryRun: Answer = { kind: 'not-asked', reason: null };
