import type { BudgetExhausted, Uncounted } from '../request-context.ts';
import type { CallCause } from '../telemetry/events.ts';
import type { LinesReader } from './received-lines.ts';

/** A request to a service: one operation, or one of its attempts. */
export interface UpstreamRequest {
  method: 'GET' | 'POST';
  /** Path below the base URL, with its leading slash. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  /** Reads an answer below status 400, and says what is wrong with it; null if it has what was asked for. */
  findFault?(answer: Omit<Answered, 'fault'>): AnswerFault | 'mismatched' | null;
  /**
   * For a request with a body: accepts an answer in lines of JSON, too (`application/x-ndjson`). If it has lines with text, the parsed
   * body is the last line, the text is that of the lines before it, and a 200 without a last line is `truncated`.
   */
  lines?: LinesReader;
  /** Why it is made, unless it is a retry; by default, it is new. */
  cause?: CallCause;
  /** Called before each attempt; if it resolves to false, the attempt is shed. */
  maySend?: () => Promise<boolean>;
  /** Called immediately before each attempt: from then on it may be charged. If it throws, the attempt is not sent. */
  beforeAttempt?: () => void;
}

/** The result of an operation or of one of its attempts. A rejection by the upstream (4xx) is `answered`. */
export type Outcome = Answered | Failed | Shed | Blocked | Exhausted | BudgetExhausted | Uncounted;

export interface Answered {
  kind: 'answered';
  status: number;
  /** Values by lower-case name, of the headers that the gateway reads. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** From `Retry-After`; null when it is absent or unreadable. */
  retryAt: Date | null;
  /** The body; of lines, the text in them. */
  text: string;
  /** The parsed body; undefined when it is not JSON. */
  json: unknown;
  fault: AnswerFault | null;
}

/**
 * Why an answer below status 400 is not what was asked for: its body says that the allowance is exhausted or the key rejected, or it
 * cannot be read.
 */
export type AnswerFault = 'allowance' | 'credentials' | 'unreadable';

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

/** Not sent (load shedding): the circuit is open, the queue is full, the time was over before, or `maySend` has refused. */
export interface Shed {
  kind: 'shed';
}

/** Not sent: the upstream's `Retry-After` has not passed. */
interface Blocked {
  kind: 'blocked';
  retryAt: Date;
}

/** Not sent: the allowance is exhausted. */
export interface Exhausted {
  kind: 'exhausted';
  renewsAt: Date;
}

export const shed: Shed = { kind: 'shed' };
