import type { ErrorCode } from '../../src/errors.ts';
import { essaysKey } from '../gateway.ts';
import {
  type Condition,
  complaint,
  essayText,
  halfJson,
  html,
  maxAnswerBytes,
  retryAfterMs,
  tooLarge,
} from './conditions.ts';

/*
 * The failure table of the architecture, seen from the client: what it is told, how many calls that cost, and after how
 * many milliseconds; and, where the service is left alone from then on, for how many more. Waits are as long as they can
 * be drawn, so the times are bounds; a deadline is met to the millisecond.
 */

export type Table<Told> = Record<Condition, [told: Told, calls: number, afterMs: number, quiet?: Quiet<Told>]>;

/** The service is left alone for so long after the answer, and whoever asks meanwhile is told this. */
interface Quiet<Told> {
  forMs: number;
  told: Told;
}

/** A GraphQL error with this code, or the fields of an answer. */
export type ToldOfIban =
  | { code: ErrorCode; retryable: boolean; message?: string }
  | { valid: boolean; problems: string[] };
/** The fields of the union member. */
export type ToldOfEssay = Record<string, unknown> & { __typename: string };

export const backoffMs = 100;
export const bankDataTimeoutMs = 10_000;
export const essaysTimeoutMs = 120_000;

const now = 0;
const oneWait = backoffMs;
/** The bound doubles with each retry. */
const secondWait = 2 * backoffMs;
const twoWaits = oneWait + secondWait;

const valid: ToldOfIban = { valid: true, problems: [] };
const invalid: ToldOfIban = { valid: false, problems: ['REJECTED_BY_SERVICE'] };
const forGood = (code: ErrorCode): ToldOfIban => ({ code, retryable: false });
const forNow = (code: ErrorCode): ToldOfIban => ({ code, retryable: true });

const renewsAt = '2026-11-21T12:01:00.000Z';
const exhausted: ToldOfIban = {
  ...forGood('UPSTREAM_ALLOWANCE_EXHAUSTED'),
  message: `The allowance of the bank-data service is used up; it renews at ${renewsAt}.`,
};
const paused: Quiet<ToldOfIban> = { forMs: retryAfterMs, told: exhausted };

/** One IBAN, on its own or as an entity. */
// biome-ignore format: a table is read by its columns
export const ibanTable: Table<ToldOfIban> = {
  //                        the client is told                          calls  after  quiet
  '200':                   [valid,                                          1, now],
  '200 not JSON':          [forNow('UPSTREAM_FAILED'),                      2, oneWait],
  '200 truncated':         [forNow('UPSTREAM_FAILED'),                      2, oneWait],
  '200 too large':         [forNow('UPSTREAM_FAILED'),                      2, oneWait],
  '400':                   [forGood('UPSTREAM_FAILED'),                     1, now],
  '401':                   [forGood('UPSTREAM_REJECTED_CREDENTIALS'),       1, now],
  '403':                   [forGood('UPSTREAM_REJECTED_CREDENTIALS'),       1, now],
  '404':                   [forGood('UPSTREAM_FAILED'),                     1, now],
  '422':                   [invalid,                                        1, now],
  '429':                   [forGood('UPSTREAM_ALLOWANCE_EXHAUSTED'),        1, now],
  '429 with Retry-After':  [exhausted,                                      1, now, paused],
  '500':                   [forNow('UPSTREAM_FAILED'),                      3, twoWaits],
  '502':                   [forNow('UPSTREAM_FAILED'),                      3, twoWaits],
  '503':                   [forNow('UPSTREAM_FAILED'),                      3, twoWaits],
  'slow headers':          [forNow('UPSTREAM_TIMED_OUT'),                   1, bankDataTimeoutMs],
  'slow body':             [forNow('UPSTREAM_TIMED_OUT'),                   1, bankDataTimeoutMs],
  'reset before headers':  [forNow('UPSTREAM_FAILED'),                      3, twoWaits],
  'reset in the body':     [forNow('UPSTREAM_FAILED'),                      2, oneWait],
  'refused':               [forNow('UPSTREAM_FAILED'),                      3, twoWaits],
  'DNS failure':           [forNow('UPSTREAM_FAILED'),                      3, twoWaits],
};

/**
 * One of three IBANs; the other two are answered, and cost a call each. Where the service cannot be reached, all three
 * fail, on three tries each: one call short of what opens the breaker.
 */
// biome-ignore format: a table is read by its columns
export const listTable: Table<ToldOfIban> = {
  //                        the client is told                          calls  after  quiet
  '200':                   [valid,                                          3, now],
  '200 not JSON':          [forNow('UPSTREAM_FAILED'),                      4, oneWait],
  '200 truncated':         [forNow('UPSTREAM_FAILED'),                      4, oneWait],
  '200 too large':         [forNow('UPSTREAM_FAILED'),                      4, oneWait],
  '400':                   [forGood('UPSTREAM_FAILED'),                     3, now],
  '401':                   [forGood('UPSTREAM_REJECTED_CREDENTIALS'),       3, now],
  '403':                   [forGood('UPSTREAM_REJECTED_CREDENTIALS'),       3, now],
  '404':                   [forGood('UPSTREAM_FAILED'),                     3, now],
  '422':                   [invalid,                                        3, now],
  '429':                   [forGood('UPSTREAM_ALLOWANCE_EXHAUSTED'),        3, now],
  '429 with Retry-After':  [exhausted,                                      3, now, paused],
  '500':                   [forNow('UPSTREAM_FAILED'),                      5, twoWaits],
  '502':                   [forNow('UPSTREAM_FAILED'),                      5, twoWaits],
  '503':                   [forNow('UPSTREAM_FAILED'),                      5, twoWaits],
  'slow headers':          [forNow('UPSTREAM_TIMED_OUT'),                   3, bankDataTimeoutMs],
  'slow body':             [forNow('UPSTREAM_TIMED_OUT'),                   3, bankDataTimeoutMs],
  'reset before headers':  [forNow('UPSTREAM_FAILED'),                      5, twoWaits],
  'reset in the body':     [forNow('UPSTREAM_FAILED'),                      4, oneWait],
  'refused':               [forNow('UPSTREAM_FAILED'),                      9, twoWaits],
  'DNS failure':           [forNow('UPSTREAM_FAILED'),                      9, twoWaits],
};

const member = (__typename: string, fields: object): ToldOfEssay => ({ __typename, ...fields });
const essay = member('Essay', { text: essayText });
const refused = member('InvalidEssayInput', { message: complaint('[hidden]'), field: null });
const usedUp = member('EssayAllowanceExhausted', {
  message: 'The allowance of the essays service is used up.',
  renewsAt: null,
});
const usedUpForNow = member('EssayAllowanceExhausted', {
  message: `The allowance of the essays service is used up; it renews at ${renewsAt}.`,
  renewsAt,
});
const pausedEssays: Quiet<ToldOfEssay> = { forMs: retryAfterMs, told: usedUpForNow };
const lost = (code: ErrorCode, { retryable = true, rawText = null as string | null } = {}) =>
  member('EssayServiceFailed', { code, retryable, rawText });

const concealed = (text: string) => text.replace(essaysKey, '[hidden]');

/** An essay: paid for whatever comes of it, so sent again only where it surely was not taken, and no text is thrown away. */
// biome-ignore format: a table is read by its columns
export const essayTable: Table<ToldOfEssay> = {
  //                        the client is told                                                   calls  after  quiet
  '200':                   [essay,                                                                   1, now],
  '200 not JSON':          [lost('UPSTREAM_FAILED', { rawText: concealed(html) }),                   1, now],
  '200 truncated':         [lost('UPSTREAM_FAILED', { rawText: concealed(halfJson) }),               1, now],
  '200 too large':         [lost('UPSTREAM_FAILED', { rawText: concealed(tooLarge.slice(0, maxAnswerBytes)) }), 1, now],
  '400':                   [refused,                                                                 1, now],
  '401':                   [lost('UPSTREAM_REJECTED_CREDENTIALS', { retryable: false }),             1, now],
  '403':                   [lost('UPSTREAM_REJECTED_CREDENTIALS', { retryable: false }),             1, now],
  '404':                   [lost('UPSTREAM_FAILED', { retryable: false }),                           1, now],
  '422':                   [refused,                                                                 1, now],
  '429':                   [usedUp,                                                                  1, now],
  '429 with Retry-After':  [usedUpForNow,                                                            1, now, pausedEssays],
  '500':                   [lost('UPSTREAM_FAILED'),                                                 1, now],
  '502':                   [lost('UPSTREAM_FAILED'),                                                 1, now],
  '503':                   [lost('UPSTREAM_FAILED'),                                                 2, oneWait],
  'slow headers':          [lost('UPSTREAM_TIMED_OUT'),                                              1, essaysTimeoutMs],
  'slow body':             [lost('UPSTREAM_TIMED_OUT', { rawText: concealed(halfJson) }),            1, essaysTimeoutMs],
  'reset before headers':  [lost('UPSTREAM_FAILED'),                                                 1, now],
  'reset in the body':     [lost('UPSTREAM_FAILED', { rawText: concealed(halfJson) }),               1, now],
  'refused':               [lost('UPSTREAM_FAILED'),                                                 2, oneWait],
  'DNS failure':           [lost('UPSTREAM_FAILED'),                                                 2, oneWait],
};
