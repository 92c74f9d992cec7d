import type { CheckResult } from '../../iban/german-account-checks.ts';

/** What a source says about one well-formed IBAN. */
export type Answer =
  | {
      kind: 'answered';
      valid: boolean;
      /** The name of the bank; null if it is not known, as is the BIC. */
      bank: string | null;
      bic: string | null;
      /** Only of a gateway, which may have other bank lists than this machine. */
      nationalCheck?: CheckResult;
    }
  /** The code of a `GatewayError`. */
  | { kind: 'failed'; code: string }
  /** The reason is a clause for people, such as `--max-calls is reached`. */
  | { kind: 'not-asked'; reason: string };

/** Where answers come from. */
export interface AnswerSource {
  /** Identifies it, without a secret: answers of one are not those of another. */
  id: string;
  /** Asks about a well-formed IBAN, each once. A failure of the service is an answer. */
  ask(iban: string): Promise<Answer>;
  /** The caller waits for this answer: the question must not wait for others any more. */
  hurry(iban: string): void;
  /** How many calls were made, or IBANs sent to a gateway. */
  calls(): number;
  /** Why it is not asked any more; null while it is. */
  stopReason(): string | null;
  /** From now on, nothing is asked; what was sent is awaited. */
  stop(reason: string): void;
  close(): Promise<void>;
}
