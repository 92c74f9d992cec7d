import { bankDataKey, essaysKey } from '../gateway.ts';
import {
  type Reply,
  replyJson,
  replyNever,
  replyResetBeforeHeaders,
  replyResetInBody,
  replyStuck,
  replyText,
  replyTruncated,
} from '../scripted-upstream.ts';

/* What can become of a call to an upstream, one name for each, and how an upstream does that. */

export const conditions = [
  '200',
  '200 not JSON',
  '200 truncated',
  '200 too large',
  '400',
  '401',
  '403',
  '404',
  '422',
  '429',
  '429 with Retry-After',
  '500',
  '502',
  '503',
  'slow headers',
  'slow body',
  'reset before headers',
  'reset in the body',
  'refused',
  'DNS failure',
] as const;

export type Condition = (typeof conditions)[number];

/** Where there is nobody to answer. */
export type Unreachable = 'refused' | 'DNS failure';

export function isUnreachable(condition: Condition): condition is Unreachable {
  return condition === 'refused' || condition === 'DNS failure';
}

/** Stands in every failing answer, header and body: outside of a text that was paid for, it must not be found anywhere. */
export const upstreamWords = 'upstream-words-that-stay-inside';
/** What the upstream means its caller to read. It names the key, as careless services do. */
export const complaint = (key: string) => `The input is wrong, says the owner of ${key}.`;
export const retryAfterMs = 60_000;
export const maxAnswerBytes = 1_024;

/** What arrives of an answer that is none. */
export const html = `<html>${upstreamWords} ${essaysKey}</html>`;
export const halfJson = `{"valid":true,"essay":"${upstreamWords} ${essaysKey} `;
export const tooLarge = `{"valid":true,"essay":"${upstreamWords} ${essaysKey} ${'word '.repeat(1_000)}"}`;

export const essayText = 'On pens.';
/** Answers any question of either service. */
export const replyHealthy: Reply = replyJson(200, { valid: true, essay: essayText });

export const replies: Record<Exclude<Condition, Unreachable>, Reply> = {
  '200': replyHealthy,
  '200 not JSON': replyText(200, html, { 'content-type': 'text/html' }),
  '200 truncated': replyTruncated(halfJson),
  '200 too large': replyText(200, tooLarge, { 'content-type': 'application/json' }),
  '400': refuses(400),
  '401': refuses(401),
  '403': refuses(403),
  '404': refuses(404),
  '422': refuses(422),
  '429': refuses(429),
  '429 with Retry-After': refuses(429, { 'retry-after': String(retryAfterMs / 1_000) }),
  '500': refuses(500),
  '502': refuses(502),
  '503': refuses(503),
  'slow headers': replyNever,
  'slow body': replyStuck(halfJson),
  'reset before headers': replyResetBeforeHeaders,
  'reset in the body': replyResetInBody(halfJson),
};

/** Says no, and gives away in header and body whatever it knows. */
function refuses(status: number, headers: Record<string, string> = {}): Reply {
  return (response, call) => {
    const key = call.method === 'POST' ? essaysKey : bankDataKey;
    const trace = `${upstreamWords} ${key} ${call.headers.host} ${call.query.get('iban_number')}`;
    const body = { message: complaint(key), errors: { iban_number: [trace] }, trace };
    return replyJson(status, body, { 'x-trace': trace, ...headers })(response, call);
  };
}
