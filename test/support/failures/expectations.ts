import type { ErrorCode, ServiceName } from '../../../src/base/errors.ts';
import { essaysKey } from '../gateway.ts';
import {
  type Condition,
  essayText,
  halfJson,
  html,
  inputProblem,
  isUnreachable,
  maxAnswerBytes,
  retryAfterMs,
  tooLarge,
} from './conditions.ts';

/*
 * The failure table as clients see it. Pauses before retries have their maximum length, so the times are upper bounds;
 * deadlines are exact. A condition without a row is a type error.
 */

export type Table<Result> = Record<Condition, Expectation<Result>>;
type Expectation<Result> = [result: Result, calls: number, afterMs: number, pause?: Pause<Result>];

/** The service is not called for this long after the answer. Requests have this result meanwhile. */
interface Pause<Result> {
  forMs: number;
  result: Result;
}

/** A GraphQL error with this code, or the fields of an answer. */
export type IbanResult =
  | { code: ErrorCode; retryable: boolean; message?: string }
  | { valid: boolean; problems: string[] };
/** The fields of the union member. */
export type EssayResult = Record<string, unknown> & { __typename: string };

export const backoffMs = 100;
/** The default deadlines. */
const bankDataTimeoutMs = 10_000;
const essaysTimeoutMs = 120_000;

const now = 0;
const onePause = backoffMs;
/** The maximum doubles with each retry. */
const twoPauses = backoffMs + 2 * backoffMs;

const valid: IbanResult = { valid: true, problems: [] };
const invalid: IbanResult = { valid: false, problems: ['REJECTED_BY_SERVICE'] };
const permanent = (code: ErrorCode): IbanResult => ({ code, retryable: false });
const temporary = (code: ErrorCode): IbanResult => ({ code, retryable: true });

const renewsAt = '2026-11-21T12:01:00.000Z';
const blocked: IbanResult = {
  ...permanent('UPSTREAM_ALLOWANCE_EXHAUSTED'),
  message: `The bank-data service has asked not to be called; the gateway waits until ${renewsAt} at most.`,
};
const bankDataPause: Pause<IbanResult> = { forMs: retryAfterMs, result: blocked };

/** One IBAN, as a field or as an entity. */
// biome-ignore format: a table is read by its columns
export const ibanTable: Table<IbanResult> = {
  //                        result                                          calls  after  pause
  '200':                   [valid,                                          1, now],
  '200 not JSON':          [temporary('UPSTREAM_FAILED'),                   2, onePause],
  '200 truncated':         [temporary('UPSTREAM_FAILED'),                   2, onePause],
  '200 too large':         [temporary('UPSTREAM_FAILED'),                   2, onePause],
  '400':                   [permanent('UPSTREAM_FAILED'),                   1, now],
  '401':                   [permanent('UPSTREAM_REJECTED_CREDENTIALS'),     1, now],
  '403':                   [permanent('UPSTREAM_REJECTED_CREDENTIALS'),     1, now],
  '404':                   [permanent('UPSTREAM_FAILED'),                   1, now],
  '422':                   [invalid,                                        1, now],
  '429':                   [permanent('UPSTREAM_ALLOWANCE_EXHAUSTED'),      1, now],
  '429 with Retry-After':  [blocked,                                        1, now, bankDataPause],
  '429 until a date':      [blocked,                                        1, now, bankDataPause],
  '500':                   [temporary('UPSTREAM_FAILED'),                   3, twoPauses],
  '502':                   [temporary('UPSTREAM_FAILED'),                   3, twoPauses],
  '503':                   [temporary('UPSTREAM_FAILED'),                   3, twoPauses],
  '504':                   [temporary('UPSTREAM_TIMED_OUT'),                3, twoPauses],
  'slow headers':          [temporary('UPSTREAM_TIMED_OUT'),                1, bankDataTimeoutMs],
  'slow body':             [temporary('UPSTREAM_TIMED_OUT'),                1, bankDataTimeoutMs],
  'closed before headers': [temporary('UPSTREAM_FAILED'),                   3, twoPauses],
  'reset before headers':  [temporary('UPSTREAM_FAILED'),                   3, twoPauses],
  'reset in the body':     [temporary('UPSTREAM_FAILED'),                   2, onePause],
  'refused':               [temporary('UPSTREAM_FAILED'),                   3, twoPauses],
  'DNS failure':           [temporary('UPSTREAM_FAILED'),                   3, twoPauses],
};

/**
 * One of three IBANs; the other two succeed with a call each. If the service is unreachable, all three fail after three
 * tries each: one call fewer than open the circuit breaker.
 */
export const listTable = Object.fromEntries(
  Object.entries(ibanTable).map(([condition, [result, calls, ...rest]]) => {
    return [condition, [result, isUnreachable(condition as Condition) ? 3 * calls : calls + 2, ...rest]];
  }),
) as Table<IbanResult>;

const member = (__typename: string, fields: object): EssayResult => ({ __typename, ...fields });
const essay = member('Essay', { text: essayText });
const invalidInput = member('InvalidEssayInput', { message: inputProblem('[hidden]'), fields: [] });
const blockedEssays = member('EssayAllowanceExhausted', {
  message: 'The essay service has asked not to be called, without saying until when.',
  renewsAt: null,
});
const blockedEssaysUntil = member('EssayAllowanceExhausted', {
  message: `The essay service has asked not to be called; the gateway waits until ${renewsAt} at most.`,
  renewsAt,
});
const essaysPause: Pause<EssayResult> = { forMs: retryAfterMs, result: blockedEssaysUntil };
const failed = (code: ErrorCode, { retryable = true, rawText = null as string | null } = {}) =>
  member('EssayServiceFailed', { code, retryable, rawText });

const redacted = (text: string) => text.replace(essaysKey, '[hidden]');

/** An essay may have been paid for once it was sent: it is retried only if it surely was not accepted, and text is kept. */
// biome-ignore format: a table is read by its columns
export const essayTable: Table<EssayResult> = {
  //                        result                                                                         calls  after  pause
  '200':                   [essay,                                                                        1, now],
  '200 not JSON':          [failed('UPSTREAM_FAILED', { retryable: false, rawText: redacted(html) }),     1, now],
  '200 truncated':         [failed('UPSTREAM_FAILED', { retryable: false, rawText: redacted(halfJson) }), 1, now],
  '200 too large':         [failed('UPSTREAM_FAILED', { retryable: false, rawText: redacted(tooLarge.slice(0, maxAnswerBytes)) }), 1, now],
  '400':                   [invalidInput,                                                                 1, now],
  '401':                   [failed('UPSTREAM_REJECTED_CREDENTIALS', { retryable: false }),                1, now],
  '403':                   [failed('UPSTREAM_REJECTED_CREDENTIALS', { retryable: false }),                1, now],
  '404':                   [failed('UPSTREAM_FAILED', { retryable: false }),                              1, now],
  '422':                   [invalidInput,                                                                 1, now],
  '429':                   [blockedEssays,                                                                1, now],
  '429 with Retry-After':  [blockedEssaysUntil,                                                           1, now, essaysPause],
  '429 until a date':      [blockedEssaysUntil,                                                           1, now, essaysPause],
  '500':                   [failed('UPSTREAM_FAILED'),                                                    1, now],
  '502':                   [failed('UPSTREAM_FAILED'),                                                    1, now],
  '503':                   [failed('UPSTREAM_FAILED'),                                                    2, onePause],
  '504':                   [failed('UPSTREAM_TIMED_OUT'),                                                 1, now],
  'slow headers':          [failed('UPSTREAM_TIMED_OUT', { retryable: false }),                           1, essaysTimeoutMs],
  'slow body':             [failed('UPSTREAM_TIMED_OUT', { retryable: false, rawText: redacted(halfJson) }), 1, essaysTimeoutMs],
  'closed before headers': [failed('UPSTREAM_FAILED', { retryable: false }),                              1, now],
  'reset before headers':  [failed('UPSTREAM_FAILED', { retryable: false }),                              1, now],
  'reset in the body':     [failed('UPSTREAM_FAILED', { retryable: false, rawText: redacted(halfJson) }), 1, now],
  'refused':               [failed('UPSTREAM_FAILED'),                                                    2, onePause],
  'DNS failure':           [failed('UPSTREAM_FAILED'),                                                    2, onePause],
};

/** What the operator can mend is logged at error level, once; no other condition is. */
export const loggedErrors: Record<ServiceName, Partial<Record<Condition, RegExp>>> = {
  'bank-data': { '400': /gateway/, '401': /the upstream reject.* key/, '403': /the upstream reject.* key/ },
  essays: { '401': /the upstream reject.* key/, '403': /the upstream reject.* key/ },
};
