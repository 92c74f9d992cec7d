import { Pool } from 'undici';
import { errorCodeOf, type ServiceName } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import type { RedactSecrets } from '../telemetry/redact.ts';
import type { RestClient, RestFailureReason, RestOutcome, RestRequest } from './upstream-client.ts';

interface HttpTransportOptions {
  service: ServiceName;
  baseUrl: string;
  /** Sent with every request: the upstream's key. */
  headers: Readonly<Record<string, string>>;
  /** Deadline of one call, from its sending to the last byte of its answer, in milliseconds. */
  timeoutMs: number;
  /** Largest answer, in bytes. */
  maxAnswerBytes?: number;
  /** Most connections. */
  maxConnections?: number;
  /** Takes our own secrets out of what the upstream answers: some echo the key that they were sent. */
  conceal: RedactSecrets;
  events: Events;
}

/** The calls themselves, over undici: pooled keep-alive connections, a deadline, a size bound. */
export function createHttpTransport({
  service,
  baseUrl,
  headers,
  timeoutMs,
  maxAnswerBytes = 1_000_000,
  maxConnections = 16,
  conceal,
  events,
}: HttpTransportOptions): RestClient {
  const { origin, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/$/, '');
  // The deadline bounds the whole call, so undici's own timers for its parts are off.
  const pool = new Pool(origin, { connections: maxConnections, headersTimeout: 0, bodyTimeout: 0 });

  return {
    async send(request, { signal, cost }, withinMs = timeoutMs) {
      signal.throwIfAborted();
      cost.upstreamCalls += 1;
      const startedAt = performance.now();
      const outcome = await exchange(request, signal, Math.min(withinMs, timeoutMs));
      events.upstreamCalled({
        service,
        path: request.path,
        outcome:
          outcome.kind === 'answer'
            ? { kind: 'answered', status: outcome.status }
            : { kind: 'failed', reason: outcome.reason },
        durationMs: performance.now() - startedAt,
      });
      return outcome;
    },
    close: () => pool.destroy(),
  };

  async function exchange(request: RestRequest, signal: AbortSignal, withinMs: number): Promise<RestOutcome> {
    const deadline = startDeadline(withinMs, signal);
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
        const within = chunk.byteLength - Math.max(0, bytes - maxAnswerBytes);
        text += decoder.decode(chunk.subarray(0, within), { stream: true });
        if (bytes > maxAnswerBytes) {
          return { kind: 'failure', reason: 'too-large', text: paidText(status, conceal(text, true)) };
        }
      }
      text = conceal(text + decoder.decode());
      return { kind: 'answer', status, headers: response.headers, text, json: readJson(text) };
    } catch (error) {
      signal.throwIfAborted();
      const reason = status === undefined ? reasonBeforeAnswer(error) : 'truncated';
      return {
        kind: 'failure',
        reason: deadline.signal.aborted ? 'timed-out' : reason,
        text: paidText(status, conceal(text, true)),
      };
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
const neverSent = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
]);

function reasonBeforeAnswer(error: unknown): RestFailureReason {
  const codes = error instanceof AggregateError ? error.errors.map(errorCodeOf) : [errorCodeOf(error)];
  return codes.every((code) => code !== null && neverSent.has(code)) ? 'unreachable' : 'reset';
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
