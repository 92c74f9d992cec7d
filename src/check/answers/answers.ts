import { pause } from '../../base/async/pause.ts';
import { AbortableSignal } from '../../base/async/signal.ts';
import type { CheckResult } from '../../iban/german-account-checks.ts';
import { FingerprintMap, fingerprintOf } from '../fingerprints.ts';

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
  /** The reason is a clause for people, such as `--max-calls is reached`; null: nothing was to be asked, as in a dry run. */
  | { kind: 'not-asked'; reason: string | null };

/** What keeps answers on disk. */
interface Journal {
  append(fingerprint: string, answer: Answer): void;
}

export type Answers = ReturnType<typeof createAnswers>;

/**
 * The answers about millions of IBANs: equal ones are kept once, as banks are few.
 * @param source null: nothing is asked, only counted
 */
export function createAnswers(source: Pick<AnswerSource, 'ask'> | null, journal: () => Journal | null = () => null) {
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
    numbersOfIbans.add(fingerprint, number);
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
    /** The answer about a well-formed IBAN; each is asked once. Rejects if the journal cannot be written. */
    find(iban: string): Answer | Promise<Answer> {
      const fingerprint = fingerprintOf(iban);
      const known = answers[(numbersOfIbans.get(fingerprint) ?? 0) - 1] ?? flights.get(iban);
      if (known !== undefined) return known;
      if (source === null) {
        numbersOfIbans.add(fingerprint, dryRunNumber);
        return dryRun;
      }
      const asked = source.ask(iban);
      if (!(asked instanceof Promise)) return asked;
      const flight = keepOnce(iban, fingerprint, asked);
      flights.set(iban, flight);
      return flight;
    },
    /** Takes over the answer of an earlier run. */
    keep,
    /** Different IBANs. */
    size: () => numbersOfIbans.size,
    /** Resolves when all questions are answered. */
    settled: () => Promise.allSettled(flights.values()),
  };
}

const dryRun: Answer = { kind: 'not-asked', reason: null };

export interface ListReply {
  /** In the order of the IBANs. */
  results: readonly ListResult[];
  /** When the service can be asked again, if it says so. */
  retryAt?: Date | null;
  /** Why nothing can be asked any more; then there need not be results. */
  stopReason?: string | null;
}

/** Without `isTemporary`, a failure is the answer. After an IBAN that was not asked, no other is. */
type ListResult = Answer | { kind: 'failed'; code: string; isTemporary: boolean };

export interface AnswerSourceOptions {
  /** A rejection is a fault of this program. */
  send(ibans: readonly string[]): Promise<ListReply>;
  /** IBANs in a list. */
  maxList: number;
  /** Lists at a time. */
  maxLists: number;
  /** The pauses before what has failed is sent again, in milliseconds. */
  pausesMs?: readonly number[] | undefined;
  /** How many IBANs are asked about, and why not about others; null: all. */
  limit?: { ibans: number; reason: string } | null | undefined;
  /** Why it stops at a failure with the code BUDGET_EXHAUSTED or PAID_CALLS_EXCEEDED. */
  budgetReason: string;
  /** Receives the code of each failure that is an answer. */
  onFailure?: ((code: string) => void) | undefined;
  /** How many calls were made; without it, how many IBANs were asked about. */
  calls?: () => number;
  close?: (() => Promise<void>) | undefined;
}

/**
 * Where answers come from. It is asked in lists. What the gateway reports to a client at once, a file can wait for: what fails is sent again after a pause. If it
 * still fails, and nothing else was answered meanwhile, the service is not asked any more.
 */
export class AnswerSource {
  /** How many calls were made, or IBANs sent to a gateway. */
  readonly calls: () => number;
  readonly close: () => Promise<void>;
  readonly #options: AnswerSourceOptions;
  /** By code: after these, nothing else would succeed. */
  readonly #finalReasons: Readonly<Record<string, string>>;
  readonly #stopped = new AbortableSignal();
  readonly #waiting: Question[] = [];
  #asked = 0;
  #running = 0;
  #answered = 0;

  constructor(options: AnswerSourceOptions) {
    this.#options = options;
    this.calls = options.calls ?? (() => this.#asked);
    this.close = options.close ?? (async () => {});
    this.#finalReasons = {
      BUDGET_EXHAUSTED: options.budgetReason,
      PAID_CALLS_EXCEEDED: options.budgetReason,
      UPSTREAM_REJECTED_CREDENTIALS: 'the service rejects the key of the gateway',
    };
  }

  /** Asks about a well-formed IBAN, each once. A failure of the service is an answer. Beyond a limit, that it is not asked is known at once. */
  ask(iban: string): Answer | Promise<Answer> {
    const { limit = null, maxList } = this.#options;
    if (limit !== null && this.#asked >= limit.ibans) return { kind: 'not-asked', reason: limit.reason };
    this.#asked += 1;
    if (this.#stopped.aborted) return { kind: 'not-asked', reason: String(this.#stopped.reason) };
    return new Promise((resolve, reject) => {
      this.#waiting.push({ iban, resolve, reject });
      if (this.#waiting.length >= maxList) this.#startNext();
      else if (this.#waiting.length === 1) setImmediate(() => this.#startNext());
    });
  }

  /** Why it is not asked any more; null while it is. */
  stopReason(): string | null {
    if (this.#stopped.aborted) return String(this.#stopped.reason);
    const { limit = null } = this.#options;
    return limit !== null && this.#asked >= limit.ibans ? limit.reason : null;
  }

  /** From now on, nothing is asked; what was sent is awaited. */
  stop(reason: string): void {
    this.#stopped.abort(reason);
    // What was not sent is answered at once.
    this.#leaveUnasked(this.#waiting.splice(0));
  }

  /** What is asked while half of the lists are answered is collected, so that lists are long. */
  #startNext(): void {
    const { maxList, maxLists } = this.#options;
    while (this.#running < maxLists && this.#waiting.length >= (this.#running * 2 < maxLists ? 1 : maxList)) {
      this.#running += 1;
      void this.#askList(this.#waiting.splice(0, maxList)).finally(() => {
        this.#running -= 1;
        this.#startNext();
      });
    }
  }

  async #askList(list: readonly Question[]): Promise<void> {
    const before = this.#answered;
    let open = list;
    for (const pauseMs of [...(this.#options.pausesMs ?? defaultPausesMs), null]) {
      if (this.#stopped.aborted) break;
      try {
        const { results, retryAt = null, stopReason = null } = await this.#options.send(open.map(({ iban }) => iban));
        if (stopReason !== null) this.stop(stopReason);
        open = open.filter((question, index) => !this.#settle(question, results[index], pauseMs === null, before));
        if (open.length === 0) return;
        const waitMs = retryAt === null ? 0 : retryAt.getTime() - Date.now();
        await pause(Math.min(Math.max(waitMs, pauseMs ?? 0), maxPauseMs), this.#stopped).catch(() => {});
      } catch (error) {
        for (const { reject } of open) reject(error);
        return;
      }
    }
    this.#leaveUnasked(open);
  }

  #leaveUnasked(questions: readonly Question[]): void {
    for (const { resolve } of questions) resolve({ kind: 'not-asked', reason: String(this.#stopped.reason) });
  }

  /** @returns whether the question has its answer */
  #settle(question: Question, result: ListResult | undefined, isLast: boolean, before: number): boolean {
    if (result === undefined) return false;
    if (result.kind === 'answered') {
      this.#answered += 1;
      question.resolve(result);
      return true;
    }
    if (result.kind === 'not-asked') {
      this.stop(String(result.reason));
      return false;
    }
    const { code, isTemporary } = { isTemporary: false, ...result };
    const finalReason = this.#finalReasons[code];
    if (finalReason !== undefined) this.stop(finalReason);
    if (finalReason !== undefined || (isTemporary && !isLast)) return false;
    const isUsedUp = code === 'UPSTREAM_ALLOWANCE_EXHAUSTED';
    const outage = isUsedUp ? 'the allowance of the service is exhausted' : `the service keeps failing (${code})`;
    if (isTemporary && this.#answered === before) this.stop(outage);
    this.#options.onFailure?.(code);
    question.resolve({ kind: 'failed', code });
    return true;
  }
}

interface Question {
  iban: string;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** The service may restart, or ask for a pause: half a minute in total. */
const defaultPausesMs = [1_000, 2_000, 4_000, 8_000, 16_000];
const maxPauseMs = 60_000;
