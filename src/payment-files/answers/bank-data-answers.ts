import { pause } from '../../async/pause.ts';
import { AbortableSignal } from '../../async/signal.ts';
import type { BankDataPort } from '../../bank-data/bank-data.ts';
import { type ErrorCode, GatewayError } from '../../errors.ts';
import { createRequestContext, type RequestContext, type ReserveCall } from '../../request-context.ts';
import type { Answer, AnswerSource } from './answer.ts';

interface BankDataAnswersOptions {
  id: string;
  bankData: Pick<BankDataPort, 'validateIban'>;
  /** Look-ups at a time: as many as the client sends calls. */
  maxConcurrency: number;
  /** Limit for the calls, retries included; null: none. */
  maxCalls: number | null;
  /** The pauses before a failed look-up is tried again, in milliseconds. */
  pausesMs?: readonly number[];
  /** The request that the look-ups are for; with the budget of its caller. Without it, each is a request of its own. */
  context?: RequestContext | null;
  close?: () => Promise<void>;
}

/**
 * Answers of the bank-data service, through the port of the gateway: with its cache, allowance and retries. What the gateway reports
 * to a client at once, a file can wait for: a look-up that fails is tried again after a pause. If it still fails, and no other
 * has succeeded meanwhile, the service is not asked any more.
 */
export function createBankDataAnswers(options: BankDataAnswersOptions): AnswerSource {
  const { bankData, maxConcurrency, maxCalls, pausesMs = defaultPausesMs, context = null } = options;
  const { close = async () => {} } = options;
  const stopped = new AbortableSignal();
  const slots = createSlots(maxConcurrency);
  // A call that was sent is completed, because it is paid for.
  const neverAborted = new AbortableSignal();
  let calls = 0;
  let successes = 0;

  const reserveCall: ReserveCall = () => {
    if (maxCalls !== null && calls >= maxCalls) return { kind: 'budget-exhausted', renewsAt: new Date(0) };
    calls += 1;
    return {
      kind: 'reserved',
      release() {
        calls -= 1;
      },
    };
  };

  async function ask(iban: string): Promise<Answer> {
    await slots.take();
    try {
      const before = successes;
      for (const pauseMs of [...pausesMs, null]) {
        if (stopped.aborted) return notAsked();
        const answer = await tryOnce(iban);
        if (answer instanceof GatewayError === false) return answer;
        const reason = findFinalReason(answer.code, context !== null);
        if (reason !== null) stop(reason);
        else if (pauseMs !== null && isTemporary(answer)) await pause(pauseMs, stopped).catch(() => {});
        else {
          if (isTemporary(answer) && successes === before) stop(describeOutage(answer));
          return { kind: 'failed', code: answer.code };
        }
      }
      return notAsked();
    } finally {
      slots.leave();
    }
  }

  async function tryOnce(iban: string): Promise<Answer | GatewayError> {
    try {
      const request = context ?? createRequestContext(neverAborted, 'check', reserveCall);
      const { valid, bankData: bank } = await bankData.validateIban(iban, request);
      successes += 1;
      return { kind: 'answered', valid, bank: bank?.name ?? null, bic: bank?.bic ?? null };
    } catch (error) {
      if (error instanceof GatewayError) return error;
      if (!context?.signal.aborted) throw error;
      stop('the client has disconnected');
      return notAsked();
    }
  }

  function notAsked(): Answer {
    return { kind: 'not-asked', reason: String(stopped.reason) };
  }

  function stop(reason: string): void {
    stopped.abort(reason);
  }

  return {
    id: options.id,
    ask,
    hurry() {},
    calls: () => calls,
    stopReason: () => (stopped.aborted ? String(stopped.reason) : null),
    stop,
    close,
  };
}

/** The service may restart, or ask for a pause: half a minute in total. */
const defaultPausesMs = [1_000, 2_000, 4_000, 8_000, 16_000];

/** After these, no other look-up would succeed. */
function findFinalReason(code: ErrorCode, hasCaller: boolean): string | null {
  if (code === 'UPSTREAM_REJECTED_CREDENTIALS') return 'the service rejects the key of the gateway';
  if (code !== 'BUDGET_EXHAUSTED') return null;
  return hasCaller ? 'the budget of the caller is used up' : 'the calls of --max-calls are used up';
}

/** An exhausted allowance is waited for, too: the service may only ask for fewer calls at a time. */
function isTemporary({ code, retryable }: Pick<GatewayError, 'code' | 'retryable'>): boolean {
  return retryable || code === 'UPSTREAM_ALLOWANCE_EXHAUSTED';
}

export function describeOutage({ code }: { code: string }): string {
  return code === 'UPSTREAM_ALLOWANCE_EXHAUSTED'
    ? 'the allowance of the service is exhausted'
    : `the service keeps failing (${code})`;
}

/** Those that wait for a slot get it in their order. */
function createSlots(count: number) {
  const waiting: (() => void)[] = [];
  let free = count;
  return {
    take(): Promise<void> | void {
      if (free === 0) return new Promise((resolve) => waiting.push(resolve));
      free -= 1;
    },
    leave(): void {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    },
  };
}
