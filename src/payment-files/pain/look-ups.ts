import { TextMap } from './text-map.ts';

/** What the bank-data service says about a well-formed IBAN. */
export type IbanAnswer =
  /** With all BICs that are known of its bank. */
  | { kind: 'answered'; valid: boolean; bics: readonly string[] }
  /** The code of a `GatewayError`. */
  | { kind: 'failed'; code: string }
  /** The reason is a clause for people, such as `--max-calls is reached`. */
  | { kind: 'not-asked'; reason: string };

export type LookUpIban = (iban: string) => Promise<IbanAnswer>;

export interface LookUps {
  /**
   * Looks up an IBAN, unless it was before.
   * @param iban compacted
   */
  ask(iban: string): { answer: IbanAnswer | Promise<IbanAnswer> | null; isFirst: boolean };
  /** Distinct IBANs up to now. */
  distinct(): number;
  /** Look-ups that have no answer yet. */
  unanswered(): number;
  /** Begins no more look-ups. */
  stop(): void;
}

interface LookUpsOptions {
  /** A rejection ends the check; null: nothing is looked up, and all answers are null. */
  lookUpIban: LookUpIban | null;
  maxInFlight: number;
}

/** Looks up each distinct IBAN once, several at a time. Of those that were answered, only hashes are kept. */
export function createLookUps({ lookUpIban, maxInFlight }: LookUpsOptions): LookUps {
  /** By IBAN: the index of its answer, or `pending`. */
  const known = new TextMap();
  /** Banks are few, so most IBANs have an answer of an earlier one. */
  const answers: IbanAnswer[] = [];
  const indexes = new Map<string, number>();
  const pending = 2 ** 32 - 1;
  const promises = new Map<string, Promise<IbanAnswer>>();
  const waiting: (() => void)[] = [];
  let inFlight = 0;
  let isStopped = false;

  return {
    ask(iban) {
      const index = known.getOrSet(iban, pending);
      const isFirst = index === null;
      if (lookUpIban === null) return { answer: null, isFirst };
      if (!isFirst) return { answer: answers[index] ?? promises.get(iban) ?? null, isFirst };
      const promise = start(lookUpIban, iban);
      // The check may have ended when it fails.
      promise.catch(() => {});
      promises.set(iban, promise);
      return { answer: promise, isFirst };
    },
    distinct: () => known.size,
    unanswered: () => promises.size,
    stop() {
      isStopped = true;
      waiting.length = 0;
    },
  };

  async function start(lookUp: LookUpIban, iban: string): Promise<IbanAnswer> {
    if (inFlight >= maxInFlight) await new Promise<void>((resolve) => waiting.push(resolve));
    else inFlight += 1;
    try {
      const answer = await lookUp(iban);
      known.replace(iban, indexOf(answer));
      promises.delete(iban);
      return answer;
    } finally {
      // The next one takes this place.
      const next = isStopped ? undefined : waiting.shift();
      if (next) next();
      else inFlight -= 1;
    }
  }

  function indexOf(answer: IbanAnswer): number {
    const text = JSON.stringify(answer);
    const found = indexes.get(text);
    if (found !== undefined) return found;
    indexes.set(text, answers.push(answer) - 1);
    return answers.length - 1;
  }
}
