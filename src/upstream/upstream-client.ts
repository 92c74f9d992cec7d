import type { RequestContext } from '../request-context.ts';

export interface RestRequest {
  method: 'GET' | 'POST';
  /** Path below the base URL, with its leading slash. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
}

/** What came of a call. An upstream's refusal is an answer; only what kept us from a whole answer is a failure. */
export type RestOutcome = RestAnswer | RestFailure;

export interface RestAnswer {
  kind: 'answer';
  status: number;
  /** Header values by lower-case name. */
  headers: Readonly<Record<string, string | string[] | undefined>>;
  text: string;
  /** The body read as JSON; undefined when it is not JSON. */
  json: unknown;
  /** The gateway gave it in the stead of the upstream, which was not asked. */
  isOurs?: true;
}

export interface RestFailure {
  kind: 'failure';
  reason: RestFailureReason;
  /** As much of a successful (2xx) answer's body as arrived, for callers who paid for it. */
  text: string;
}

/**
 * `shed`: we did not send it, since the upstream keeps failing or too many calls wait for it already. `unreachable`: it
 * never left (refused, DNS, connect timeout). `reset`: the connection broke before the answer. `truncated`,
 * `too-large`: the answer began and could not be read to its end. `timed-out`: the deadline.
 */
export type RestFailureReason = 'shed' | 'unreachable' | 'reset' | 'truncated' | 'too-large' | 'timed-out';

/** JSON over HTTP to one origin. What is built around the transport (breaker, bulkhead, retries) is one as well. */
export interface RestClient {
  /**
   * Sends one request. Rejects only with the signal's reason, when the caller gave up.
   * @param withinMs a shorter deadline than the client's own
   */
  send(request: RestRequest, caller: RequestContext, withinMs?: number): Promise<RestOutcome>;
  close(): Promise<void>;
}
