import { pause } from '../../base/async/pause.ts';
import { AbortableSignal } from '../../base/async/signal.ts';
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
  /** The reason is a clause for people, such as `--max-calls is reached`; null: nothing was to be asked, as in a dry run. */
  | { kind: 'not-asked'; reason: string | null };

/** Where answers come from. */
export interface AnswerSource {
  /** Asks about a well-formed IBAN, each once. A failure of the service is an answer. Beyond a limit, that it is not asked is known at once. */
  ask(iban: string): Answer | Promise<Answer>;
  /** How many calls were made, or IBANs sent to a gateway. */
  calls(): number;
  /** Why it is not asked any more; null while it is. */
  stopReason(): string | null;
  /** From now on, nothing is asked; what was sent is awaited. */
  stop(reason: string): void;
  close(): Promise<void>;
}

export interface ListReply {
  /** In the order of the IBANs. */
  results: readonly ListResult[];
  /** When the service can be asked again, if it says so. */
  retryAt?: Date | null;
  /** Why nothing can be asked any more; then there need not be results. */
  stopReason?: string | null;
}

type ListResult = Extract<Answer, { kind: 'answered' }> | { kind: 'failed'; code: string; isTemporary: boolean };

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
  /** Without it, the IBANs that were asked about. */
  calls?: AnswerSource['calls'];
  close: AnswerSource['close'];
}

/**
 * Asks in lists. What the gateway reports to a client at once, a file can wait for: what fails is sent again after a pause. If it
 * still fails, and nothing else was answered meanwhile, the service is not asked any more.
 */
export function createAnswerSource(options: AnswerSourceOptions): AnswerSource {
  const { send, maxList, maxLists, pausesMs = defaultPausesMs, limit = null, budgetReason, onFailure, close } = options;
  /** By code: after these, nothing else would succeed. */
  const finalReasons: Readonly<Record<string, string>> = {
    BUDGET_EXHAUSTED: budgetReason,
    PAID_CALLS_EXCEEDED: budgetReason,
    UPSTREAM_REJECTED_CREDENTIALS: 'the service rejects the key of the gateway',
  };
  const stopped = new AbortableSignal();
  const waiting: Question[] = [];
  let asked = 0;
  let running = 0;
  let answered = 0;

  /** What is asked while lists are answered is collected, so that lists are long. */
  function startNext(): void {
    while (running < maxLists && waiting.length >= (running === 0 ? 1 : maxList)) {
      running += 1;
      void askList(waiting.splice(0, maxList)).finally(() => {
        running -= 1;
        startNext();
      });
    }
  }

  async function askList(list: readonly Question[]): Promise<void> {
    const before = answered;
    let open = list;
    for (const pauseMs of [...pausesMs, null]) {
      if (stopped.aborted) break;
      try {
        const { results, retryAt = null, stopReason = null } = await send(open.map(({ iban }) => iban));
        if (stopReason !== null) stop(stopReason);
        open = open.filter((question, index) => !settle(question, results[index], pauseMs === null, before));
        if (open.length === 0) return;
        const waitMs = retryAt === null ? 0 : retryAt.getTime() - Date.now();
        await pause(Math.min(Math.max(waitMs, pauseMs ?? 0), maxPauseMs), stopped).catch(() => {});
      } catch (error) {
        for (const { reject } of open) reject(error);
        return;
      }
    }
    leaveUnasked(open);
  }

  function leaveUnasked(questions: readonly Question[]): void {
    for (const { resolve } of questions) resolve({ kind: 'not-asked', reason: String(stopped.reason) });
  }

  /** @returns whether the question has its answer */
  function settle(question: Question, result: ListResult | undefined, isLast: boolean, before: number): boolean {
    if (result === undefined) return false;
    if (result.kind === 'answered') {
      answered += 1;
      question.resolve(result);
      return true;
    }
    const { code, isTemporary } = result;
    const finalReason = finalReasons[code];
    if (finalReason !== undefined) stop(finalReason);
    if (finalReason !== undefined || (isTemporary && !isLast)) return false;
    if (isTemporary && answered === before) stop(describeOutage(code));
    onFailure?.(code);
    question.resolve({ kind: 'failed', code });
    return true;
  }

  function stop(reason: string): void {
    stopped.abort(reason);
    // What was not sent is answered at once.
    leaveUnasked(waiting.splice(0));
  }

  return {
    ask(iban) {
      if (limit !== null && asked >= limit.ibans) return { kind: 'not-asked', reason: limit.reason };
      asked += 1;
      if (stopped.aborted) return { kind: 'not-asked', reason: String(stopped.reason) };
      return new Promise((resolve, reject) => {
        waiting.push({ iban, resolve, reject });
        if (waiting.length >= maxList) startNext();
        else if (waiting.length === 1) setImmediate(startNext);
      });
    },
    calls: options.calls ?? (() => asked),
    stopReason() {
      if (stopped.aborted) return String(stopped.reason);
      return limit !== null && asked >= limit.ibans ? limit.reason : null;
    },
    stop,
    close,
  };
}

interface Question {
  iban: string;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

/** The service may restart, or ask for a pause: half a minute in total. */
const defaultPausesMs = [1_000, 2_000, 4_000, 8_000, 16_000];
const maxPauseMs = 60_000;

function describeOutage(code: string): string {
  return code === 'UPSTREAM_ALLOWANCE_EXHAUSTED'
    ? 'the allowance of the service is exhausted'
    : `the service keeps failing (${code})`;
}
