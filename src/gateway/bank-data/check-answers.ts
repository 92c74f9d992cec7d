import { AbortableSignal } from '../../base/async/signal.ts';
import { GatewayError } from '../../base/errors.ts';
import { AnswerSource, type AnswerSourceOptions, type ListReply } from '../../check/answers/answers.ts';
import { createRequestContext, limitCalls, type RequestContext } from '../request-context.ts';
import type { BankDataPort } from './bank-data.ts';

interface BankDataAnswersOptions extends Pick<AnswerSourceOptions, 'onFailure'> {
  bankData: Pick<BankDataPort, 'validateIbans'>;
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

/** Answers of the bank-data service, through the port of the gateway: with its cache, allowance and retries. */
export function createBankDataAnswers(options: BankDataAnswersOptions): AnswerSource {
  const { bankData, maxConcurrency, maxCalls, pausesMs, context = null } = options;
  const { onFailure, close } = options;
  // A call that was sent is completed, because it is paid for.
  const neverAborted = new AbortableSignal();
  let calls = 0;

  const reserveCall = limitCalls({ left: maxCalls ?? Number.POSITIVE_INFINITY }, () => {
    calls += 1;
    return {
      kind: 'reserved',
      release() {
        calls -= 1;
      },
    };
  });

  async function lookUp(list: readonly string[]): Promise<ListReply> {
    try {
      const request =
        context ?? createRequestContext(neverAborted, 'check', reserveCall, null, { caller: 'cli:check' });
      const found = await bankData.validateIbans(list, request);
      const results = found.map((answer) => {
        if (answer instanceof Error) throw answer;
        const { valid, bankData: bank } = answer;
        return { kind: 'answered', valid, bank: bank?.name ?? null, bic: bank?.bic ?? null } as const;
      });
      return { results };
    } catch (error) {
      if (error instanceof GatewayError) {
        const { code, retryable } = error;
        // An exhausted allowance is waited for, too: the service may only ask for fewer calls at a time.
        const isTemporary = retryable || code === 'UPSTREAM_ALLOWANCE_EXHAUSTED';
        return { results: [{ kind: 'failed', code, isTemporary }] };
      }
      if (!context?.signal.aborted) throw error;
      return { results: [], stopReason: 'the client has disconnected' };
    }
  }

  return new AnswerSource({
    send: lookUp,
    maxList: 1,
    maxLists: maxConcurrency,
    pausesMs,
    onFailure,
    budgetReason: context === null ? 'the calls of --max-calls are used up' : 'the budget of the caller is used up',
    calls: () => calls,
    close,
  });
}
