import type { Deadline } from './deadline.ts';

export interface UpstreamRequest {
  method: 'GET' | 'POST';
  /** Path below the base URL, with its leading slash. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  /** Called right before each attempt is sent: from then on it may have been charged. */
  onSent?: () => void;
}

/** The result of an operation, retries included. A rejection by the upstream is `answered`. */
export type Outcome = Answered | Failed | Shed | Exhausted;

export interface Answered {
  kind: 'answered';
  status: number;
  /** Values by lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  /** From `Retry-After`; null when it is absent or unreadable. */
  retryAt: Date | null;
  text: string;
  /** The parsed body; undefined when it is not JSON. */
  json: unknown;
}

/** The call was made, and no whole response came back. */
export interface Failed {
  kind: 'failed';
  reason: FailureReason;
  /** The part of a successful (2xx) response that arrived, since it may have been charged. */
  text: string;
}

/**
 * `unreachable`: the request was never sent (refused, DNS, connect timeout). `reset`: the connection closed before the
 * response. `truncated`, `too-large`: the response began and could not be read to its end. `timed-out`: the deadline.
 */
export type FailureReason = 'unreachable' | 'reset' | 'truncated' | 'too-large' | 'timed-out';

/** Not sent: the circuit is open, the queue is full, or the deadline passed in the queue. */
export interface Shed {
  kind: 'shed';
}

/** Not sent: the allowance is exhausted, or the upstream asked not to be called before this date. */
export interface Exhausted {
  kind: 'exhausted';
  renewsAt: Date;
}

/** One layer of an upstream client. Rejects only when the caller leaves, with the reason of the deadline's signal. */
export type Send = (request: UpstreamRequest, deadline: Deadline) => Promise<Outcome>;

export const shed: Shed = { kind: 'shed' };

/** Ends an operation that was never sent, after the deadline's signal has aborted. */
export async function endUnsent(deadline: Deadline): Promise<Shed> {
  if (deadline.hasExpired()) return shed;
  throw deadline.signal.reason;
}
