import { expect } from 'vitest';
import type { ErrorCode, ServiceName } from '../../../src/base/errors.ts';
import { bankDataKey, essaysKey } from '../gateway.ts';
import {
  type Reply,
  replyClosed,
  replyJson,
  replyNever,
  replyResetBeforeHeaders,
  replyResetInBody,
  replyStuck,
  replyText,
  replyTruncated,
  type UpstreamCall,
} from '../scripted-upstream.ts';

/** The time at which every test starts. */
export const start = new Date('2026-11-21T12:00:00Z');

/* The ways in which a call to an upstream can end, and the reply that causes each. */

/** Part of every failing reply, header and body. Only the raw text of a paid essay may contain it afterwards. */
export const upstreamText = 'text-of-the-upstream-only';
/** The message that the essay service returns for its client to read. It contains the key, as careless services do. */
const inputProblem = (key: string) => `The input is wrong, says the owner of ${key}.`;
const retryAfterMs = 60_000;
export const maxAnswerBytes = 1_024;

const html = `<html>${upstreamText} ${essaysKey}</html>`;
const halfJson = `{"valid":true,"essay":"${upstreamText} ${essaysKey} `;
const tooLarge = `{"valid":true,"essay":"${upstreamText} ${essaysKey} ${'word '.repeat(1_000)}"}`;

export const essayText = 'On pens.';
/** A valid reply of either service. */
export const replyHealthy: Reply = replyJson(200, { valid: true, essay: essayText });

/** Null where no connection is made. */
export const replies = {
  '200': replyHealthy,
  '200 not JSON': replyText(200, html, { 'content-type': 'text/html' }),
  '200 truncated': replyTruncated(halfJson),
  '200 too large': replyText(200, tooLarge, { 'content-type': 'application/json' }),
  '400': replyError(400),
  '401': replyError(401),
  '403': replyError(403),
  '404': replyError(404),
  '422': replyError(422),
  '429': replyError(429),
  '429 with Retry-After': replyError(429, { 'retry-after': String(retryAfterMs / 1_000) }),
  '429 until a date': replyError(429, { 'retry-after': new Date(start.getTime() + retryAfterMs).toUTCString() }),
  '500': replyError(500),
  '502': replyError(502),
  '503': replyError(503),
  '504': replyError(504),
  'slow headers': replyNever,
  'slow body': replyStuck(halfJson),
  'closed before headers': replyClosed,
  'reset before headers': replyResetBeforeHeaders,
  'reset in the body': replyResetInBody(halfJson),
  refused: null,
  'DNS failure': null,
} satisfies Record<string, Reply | null>;

export type Condition = keyof typeof replies;
export const conditions = Object.keys(replies) as Condition[];
export const isUnreachable = (condition: Condition) => replies[condition] === null;

/** An error that contains everything the upstream knows, in header and body. */
function replyError(status: number, headers: Record<string, string> = {}): Reply {
  return (response, call) => {
    const key = call.method === 'POST' ? essaysKey : bankDataKey;
    const trace = `${upstreamText} ${key} ${call.headers.host} ${call.query.get('iban_number')}`;
    const body = { message: inputProblem(key), errors: { iban_number: [trace] }, trace };
    return replyJson(status, body, { 'x-trace': trace, ...headers })(response, call);
  };
}

/*
 * The failure table as clients see it. Pauses before retries have their maximum length, so the times are upper bounds;
 * deadlines are exact. A condition without a row is a type error.
 */

type Table<Result> = Record<Condition, Expectation<Result>>;
type Expectation<Result> = [result: Result, calls: number, afterMs: number, pause?: Pause<Result>];

/** The service is not called for this long after the answer. Requests have this result meanwhile. */
interface Pause<Result> {
  forMs: number;
  result: Result;
}

/** A GraphQL error with this code, or the fields of an answer. */
type IbanResult = { code: ErrorCode; retryable: boolean; message?: string } | { valid: boolean; problems: string[] };
/** The fields of the union member. */
type EssayResult = Record<string, unknown> & { __typename: string };

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
const listTable = Object.fromEntries(
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
const essayTable: Table<EssayResult> = {
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

/** A GraphQL request whose upstream calls fail, and the GraphQL form of its expected results. */
interface Operation<Result = IbanResult | EssayResult> {
  name: string;
  service: ServiceName;
  query: string;
  variables: Record<string, unknown>;
  /** Upstream calls if none is retried. */
  firstCalls: number;
  /** Whether the condition applies to this call. */
  isAffected(call: UpstreamCall): boolean;
  table: Table<Result>;
  /** @param isReachable whether the calls that are not affected succeed */
  answer(result: Result, isReachable: boolean): unknown;
  /** The IBANs of its calls: they must be neither shown nor logged. */
  ibans: string[];
  /** A later request to the same service. */
  next: Pick<Operation<Result>, 'query' | 'variables' | 'answer'>;
}

const affectedIban = 'DE89370400440532013000';
const threeIbans = ['FR1420041010050500013M02606', affectedIban, 'NL91ABNA0417164300'];
const nextIban = 'AT611904300234573201';

const validation = 'valid problems';
const ibanQuery = `query ($iban: String!) { ibanValidation(iban: $iban) { ${validation} } }`;
const listQuery = `query ($ibans: [String!]!) { ibanValidations(ibans: $ibans) { ${validation} } }`;
const entityQuery = `query ($representations: [_Any!]!) { _entities(representations: $representations) {
  ... on IbanValidation { ${validation} } } }`;

const bankData = {
  service: 'bank-data',
  firstCalls: 1,
  isAffected: ({ query }) => query.get('iban_number') === affectedIban,
  ibans: [affectedIban],
  next: { query: ibanQuery, variables: { iban: nextIban }, answer: answerIban },
} satisfies Partial<Operation<IbanResult>>;

export const iban: Operation<IbanResult> = {
  ...bankData,
  name: 'one IBAN',
  query: ibanQuery,
  variables: { iban: affectedIban },
  table: ibanTable,
  answer: answerIban,
};

const list: Operation<IbanResult> = {
  ...bankData,
  name: 'a list of IBANs',
  query: listQuery,
  variables: { ibans: threeIbans },
  ibans: threeIbans,
  firstCalls: 3,
  table: listTable,
  answer: (result, isReachable) => {
    const other = isReachable ? ibanTable['200'][0] : result;
    return answerWith(listQuery, 'ibanValidations', [other, result, other]);
  },
};

const entity: Operation<IbanResult> = {
  ...bankData,
  name: 'an entity',
  query: entityQuery,
  variables: { representations: [{ __typename: 'IbanValidation', iban: affectedIban }] },
  table: ibanTable,
  answer: (result) => answerWith(entityQuery, '_entities', [result]),
};

const essayQuery = `mutation ($description: String!) {
  generateEssay(input: { description: $description, wordCount: 100 }) {
    __typename
    ... on Essay { text }
    ... on UserError { message }
    ... on InvalidEssayInput { fields { name } }
    ... on EssayAllowanceExhausted { renewsAt }
    ... on EssayServiceFailed { code retryable rawText }
  }
}`;

const essayOrder: Operation<EssayResult> = {
  name: 'an essay',
  service: 'essays',
  query: essayQuery,
  variables: { description: 'Fountain pens' },
  firstCalls: 1,
  isAffected: () => true,
  table: essayTable,
  answer: answerEssay,
  ibans: [],
  next: { query: essayQuery, variables: { description: 'Ink' }, answer: answerEssay },
};

export const operations = [iban, list, entity, essayOrder] as Operation[];

function answerIban(result: IbanResult): unknown {
  return answerWith(ibanQuery, 'ibanValidation', result);
}

/** The whole answer: its errors have no more properties than these. */
function answerWith(query: string, field: string, results: IbanResult | IbanResult[]): unknown {
  const locationsOf = (name: string) => {
    const lines = query.slice(0, query.lastIndexOf(name)).split('\n');
    return [{ line: lines.length, column: (lines.at(-1)?.length ?? 0) + 1 }];
  };
  const errors = [results].flat().flatMap((result, index) => {
    if (!('code' in result)) return [];
    const { message = ownMessage('bank-data'), ...codes } = result;
    const extensions = { ...codes, service: 'bank-data', requestId: expect.stringMatching(/^[\w-]{36}$/) };
    const path = [field, ...(Array.isArray(results) ? [index] : [])];
    return ['valid', 'problems'].map((name) => {
      return { message, path: [...path, name], locations: locationsOf(name), extensions };
    });
  });
  const failed = { valid: null, problems: null };
  const fieldsOf = (result: IbanResult) => ('code' in result ? failed : result);
  const value = Array.isArray(results) ? results.map(fieldsOf) : fieldsOf(results);
  return { data: { [field]: value }, ...(errors.length > 0 && { errors }) };
}

function answerEssay(result: EssayResult): unknown {
  const message = result.__typename === 'EssayServiceFailed' ? { message: ownMessage('essay') } : {};
  return { data: { generateEssay: { ...result, ...message } } };
}

/** A sentence of the gateway, which cannot contain a key, an address or text of the upstream. */
const ownMessage = (service: 'bank-data' | 'essay') =>
  expect.stringMatching(new RegExp(`^The (allowance of the )?${service} service [a-z', ]+\\.$`));
