import { bulkhead } from 'cockatiel';
import { Pool } from 'undici';
import type { ServiceName } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';

export interface RestRequest {
  method: 'GET' | 'POST';
  /** Path below the base URL, with its leading slash. */
  path: string;
  query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
}

/** What came of a call. An upstream's refusal is an answer; only what kept us from a whole answer is a failure. */
export type RestOutcome =
  | {
      kind: 'answer';
      status: number;
      /** Header values by lower-case name. */
      headers: Readonly<Record<string, string | string[] | undefined>>;
      text: string;
      /** The body read as JSON; undefined when it is not JSON. */
      json: unknown;
    }
  | {
      kind: 'failure';
      reason: RestFailureReason;
      /** As much of a successful (2xx) answer's body as arrived, for callers who paid for it. */
      text: string;
    };

/**
 * `unreachable`: the request never left (refused, DNS, connect timeout). `reset`: the connection broke before the
 * answer. `truncated`, `too-large`: the answer began and could not be read to its end. `timed-out`: the deadline.
 */
export type RestFailureReason = 'unreachable' | 'reset' | 'truncated' | 'too-large' | 'timed-out';

export interface RestClient {
  /** Sends one request. Rejects only with the signal's reason, when the caller gave up. */
  send(request: RestRequest, signal: AbortSignal): Promise<RestOutcome>;
  close(): Promise<void>;
}

interface RestClientOptions {
  service: ServiceName;
  baseUrl: string;
  /** Sent with every request: the upstream's key. */
  headers: Readonly<Record<string, string>>;
  /** Deadline of one call, from its sending to the last byte of its answer, in milliseconds. */
  timeoutMs: number;
  /** Largest answer, in bytes. */
  maxAnswerBytes?: number;
  /** Most calls in flight; further ones wait in line, and their deadline starts when they are sent. */
  maxConcurrency?: number;
  events: Events;
}

/** JSON over HTTP to one origin: pooled keep-alive connections, a deadline, a size bound, a limit of calls in flight. */
export function createRestClient({
  service,
  baseUrl,
  headers,
  timeoutMs,
  maxAnswerBytes = 1_000_000,
  maxConcurrency = 16,
  events,
}: RestClientOptions): RestClient {
  const { origin, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/$/, '');
  // The deadline bounds the whole call, so undici's own timers for its parts are off.
  const pool = new Pool(origin, { connections: maxConcurrency, headersTimeout: 0, bodyTimeout: 0 });
  const places = bulkhead(maxConcurrency, Number.POSITIVE_INFINITY);

  return {
    send: (request, signal) =>
      places.execute(async () => {
        signal.throwIfAborted();
        const startedAt = performance.now();
        const outcome = await exchange(request, signal);
        events.upstreamCalled({ service, path: request.path, outcome, durationMs: performance.now() - startedAt });
        return outcome;
      }),
    close: () => pool.destroy(),
  };

  async function exchange(request: RestRequest, signal: AbortSignal): Promise<RestOutcome> {
    const deadline = startDeadline(timeoutMs, signal);
    let status: number | undefined;
    let text = '';
    try {
      const response = await pool.request({
        method: request.method,
        path: `${basePath}${request.path}`,
        query: request.query ?? {},
        headers: request.body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal: deadline.signal,
      });
      status = response.statusCode;
      const decoder = new TextDecoder();
      let bytes = 0;
      for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
        bytes += chunk.byteLength;
        text += decoder.decode(chunk.subarray(0, chunk.byteLength - Math.max(0, bytes - maxAnswerBytes)), {
          stream: true,
        });
        if (bytes > maxAnswerBytes) return { kind: 'failure', reason: 'too-large', text: paidText(status, text) };
      }
      text += decoder.decode();
      return { kind: 'answer', status, headers: response.headers, text, json: readJson(text) };
    } catch (error) {
      signal.throwIfAborted();
      const reason = deadline.signal.aborted
        ? 'timed-out'
        : status === undefined
          ? reasonBeforeAnswer(error)
          : 'truncated';
      return { kind: 'failure', reason, text: paidText(status, text) };
    } finally {
      deadline.stop();
    }
  }
}

/** A signal that fires when the deadline passes or the caller gives up, whichever is first. */
function startDeadline(timeoutMs: number, caller: AbortSignal) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  const timer = setTimeout(abort, timeoutMs);
  caller.addEventListener('abort', abort);
  return {
    signal: controller.signal,
    stop() {
      clearTimeout(timer);
      caller.removeEventListener('abort', abort);
    },
  };
}

/** Errors of connecting: https://nodejs.org/api/errors.html#common-system-errors and undici's connect timeout. */
const NEVER_SENT = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function reasonBeforeAnswer(error: unknown): RestFailureReason {
  const codes = error instanceof AggregateError ? error.errors.map(codeOf) : [codeOf(error)];
  return codes.every((code) => NEVER_SENT.has(code)) ? 'unreachable' : 'reset';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function paidText(status: number | undefined, text: string): string {
  return status !== undefined && status >= 200 && status < 300 ? text : '';
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
