import { readRetryAfter } from '../../base/retry-after.ts';
import type { BudgetExhausted, Uncounted } from '../request-context.ts';
import type { LinesReader, ReadHeaders } from './response.ts';

/** The result of a call with its retries, or of one of its attempts. A rejection by the upstream (4xx) is `answered`. */
export type Outcome<Answer = unknown> =
  | Answered<Answer>
  | Failed
  | Shed
  | Blocked
  | Exhausted
  | BudgetExhausted
  | Uncounted
  | Abandoned;

/** A complete response. */
export interface Received {
  status: number;
  headers: ReadHeaders;
  /** From `Retry-After`; null when it is absent or unreadable. */
  retryAt: Date | null;
  /** The body; of lines, the text in them. */
  text: string;
  /** The parsed body; undefined when it is not JSON. */
  json: unknown;
}

export interface Answered<Answer = unknown> extends Received {
  kind: 'answered';
  /** What was asked for; null if the response does not have it. */
  value: Answer | null;
  fault: AnswerFault | null;
}

/** What is the same for all calls of an endpoint: how an input is written, and how an answer to it is read. */
export interface Endpoint<Input, Answer> {
  /** A read is completed when its caller leaves, because it is paid for. A write is an order: it is stored before it is sent. */
  method: 'GET' | 'POST';
  /** Below the base URL, with its leading slash. */
  path: string;
  /** The query string, encoded. */
  writeQuery?(input: Input): string;
  /** The body, which is sent as JSON. */
  writeBody?(input: Input): unknown;
  /**
   * For a request with a body: accepts an answer in lines of JSON, too (`application/x-ndjson`). If it has lines with text, the parsed
   * body is the last line, the text is that of the lines before it, and a 200 without a last line is `truncated`.
   */
  lines?(input: Input): LinesReader | null;
  /** Whether the body of a 200 is about this input, as far as it says so. */
  isAbout?(body: unknown, input: Input): boolean;
  /** What was asked for, from an answer below status 400; null if it does not have it. */
  read(answer: Received, input: Input): Answer | null;
  /** What is wrong with such an answer without what was asked for. */
  findFault(answer: Received): AnswerFault;
}

/** @param received its status and headers @param body parsed, and as text */
export function readAnswer<Input, Answer>(
  { read, findFault }: Pick<Endpoint<Input, Answer>, 'read' | 'findFault'>,
  input: Input,
  { status, headers }: Pick<Received, 'status' | 'headers'>,
  { text, json }: Pick<Received, 'text' | 'json'>,
): Answered<Answer> {
  // Most responses have none.
  const retryAt = headers.retryAfter === undefined ? null : readRetryAfter(headers.retryAfter);
  const answer: Answered<Answer> = {
    kind: 'answered',
    status,
    headers,
    retryAt,
    text,
    json,
    value: null,
    fault: null,
  };
  if (status < 400) {
    answer.value = read(answer, input);
    if (answer.value === null) answer.fault = findFault(answer);
  }
  return answer;
}

/**
 * Why an answer below status 400 is not what was asked for: its body says that the allowance is exhausted or the key rejected, or it
 * cannot be read.
 */
export type AnswerFault = Refusal | 'unreadable';

/** Why the service has refused a call: its allowance is exhausted, or there are too many calls; or it rejects the key. */
export type Refusal = 'allowance' | 'credentials';

/** An attempt was made, but no complete response to it was received. */
export interface Failed {
  kind: 'failed';
  reason: FailureReason;
  /** The error code of the system, TLS or undici, such as ECONNREFUSED or CERT_HAS_EXPIRED, if the request was never sent. */
  code?: string;
  /** The received part of an incomplete 2xx response, which may have been charged; of lines, the text in them. Otherwise empty. */
  text: string;
}

/**
 * `unreachable`: the request was never sent (refused, DNS, TLS, connect timeout). `reset`: the connection closed before the
 * response. `invalid`: the response was not valid HTTP/1.1. `truncated`, `too-large`: the response began and could not be
 * read to its end. `mismatched`: the response to another
 * request: the service, or a proxy before it, has mixed up the responses of the connection. `timed-out`: the deadline.
 */
export type FailureReason =
  | 'unreachable'
  | 'reset'
  | 'invalid'
  | 'truncated'
  | 'too-large'
  | 'mismatched'
  | 'timed-out';

/** Not sent (load shedding): the circuit is open, the queue is full, or the time was over before. */
interface Shed {
  kind: 'shed';
}

/** Not sent: the service has refused calls for this cause, or its `Retry-After` has not passed. */
interface Blocked {
  kind: 'blocked';
  cause: Refusal;
  retryAt: Date | null;
}

/** Not sent: the allowance is exhausted. */
export interface Exhausted {
  kind: 'exhausted';
  renewsAt: Date;
}

/** Its caller has left: it was not sent, or is an order that may be charged. */
interface Abandoned {
  kind: 'abandoned';
  /** That of the caller's signal. */
  reason: unknown;
}

export const shed: Shed = { kind: 'shed' };

/** Null if it has not refused the call. A refused one is not charged. */
export function refusalOf({ status, fault }: Pick<Answered, 'status' | 'fault'>): Refusal | null {
  if (fault === 'allowance' || status === 402 || status === 429) return 'allowance';
  return fault === 'credentials' || status === 401 || status === 403 ? 'credentials' : null;
}

/** Whether the upstream failed: no complete response, one that cannot be read, or 5xx. A rejection (4xx) is not a failure. */
export function isUpstreamFailure(outcome: Outcome): boolean {
  return outcome.kind === 'answered'
    ? outcome.status >= 500 || outcome.fault === 'unreadable'
    : outcome.kind === 'failed';
}

/**
 * How often a call may be retried after this outcome: only what may succeed and is safe to repeat. A read is retried twice if the
 * service failed or was not reached, and once if its response could not be read. An order may be charged even if it fails, so it is
 * retried, once, only if it was definitely not accepted: it was never sent, or was rejected with 503.
 */
export function maxRetries(method: 'GET' | 'POST', outcome: Outcome): number {
  if (outcome.kind === 'failed') {
    if (method === 'GET') return retriesAfter[outcome.reason];
    return outcome.reason === 'unreachable' ? 1 : 0;
  }
  if (outcome.kind !== 'answered') return 0;
  const { status, json } = outcome;
  if (method === 'POST') return status === 503 ? 1 : 0;
  if (status === 200) return json === undefined ? 1 : 0;
  return status === 500 || status === 502 || status === 503 || status === 504 ? 2 : 0;
}

/**
 * An invalid response is a fault that a retry does not cure, a mismatched one may be the service's answer to this input, and a
 * timeout has used up the deadline.
 */
const retriesAfter: Readonly<Record<FailureReason, number>> = {
  unreachable: 2,
  reset: 2,
  invalid: 0,
  truncated: 1,
  'too-large': 1,
  mismatched: 0,
  'timed-out': 0,
};
