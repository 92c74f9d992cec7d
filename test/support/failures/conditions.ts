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
} from '../scripted-upstream.ts';
import { start } from './fake-clock.ts';

/* The ways in which a call to an upstream can end, and the reply that causes each. */

/** Part of every failing reply, header and body. Only the raw text of a paid essay may contain it afterwards. */
export const upstreamText = 'text-of-the-upstream-only';
/** The message that the essay service returns for its client to read. It contains the key, as careless services do. */
export const inputProblem = (key: string) => `The input is wrong, says the owner of ${key}.`;
export const retryAfterMs = 60_000;
export const maxAnswerBytes = 1_024;

export const html = `<html>${upstreamText} ${essaysKey}</html>`;
export const halfJson = `{"valid":true,"essay":"${upstreamText} ${essaysKey} `;
export const tooLarge = `{"valid":true,"essay":"${upstreamText} ${essaysKey} ${'word '.repeat(1_000)}"}`;

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
