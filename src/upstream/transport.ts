import type { Readable } from 'node:stream';
import { Pool } from 'undici';
import type { ServiceName } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import { type RedactSecrets, redactStrings } from '../telemetry/redact.ts';
import type { Deadline } from './deadline.ts';
import { reasonBeforeResponse, tooManyInfos } from './failure-reason.ts';
import type { Answered, Failed, FailureReason, Send, UpstreamRequest } from './operation.ts';

interface TransportOptions {
  service: ServiceName;
  baseUrl: string;
  /** Sent with every request, including the API key. */
  headers: Readonly<Record<string, string>>;
  maxResponseBytes: number;
  maxConnections: number;
  /** Applied to every response: some services echo the key that they received. */
  redactSecrets: RedactSecrets;
  events: Pick<Events, 'upstreamCalled'>;
}

/** Sends each attempt with undici: pooled keep-alive connections, one deadline, a size limit. */
export function createTransport({
  service,
  baseUrl,
  headers,
  maxResponseBytes,
  maxConnections,
  redactSecrets,
  events,
}: TransportOptions): { exchange: Send; close(): Promise<void> } {
  const { origin, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/$/, '');
  // The deadline bounds the whole call, so undici's timeouts for headers and body are off.
  const pool = new Pool(origin, { connections: maxConnections, headersTimeout: 0, bodyTimeout: 0 });

  return {
    async exchange(request, deadline) {
      request.onSent?.();
      const startedAt = performance.now();
      const outcome = await call(request, deadline);
      events.upstreamCalled({ service, path: request.path, outcome, durationMs: performance.now() - startedAt });
      return outcome;
    },
    close: () => pool.destroy(),
  };

  async function call(request: UpstreamRequest, deadline: Deadline): Promise<Answered | Failed> {
    let status: number | undefined;
    let text = '';
    const fail = (reason: FailureReason): Failed => {
      const mayBeCharged = status !== undefined && status >= 200 && status < 300;
      return { kind: 'failed', reason, text: mayBeCharged ? redactSecrets(text, true) : '' };
    };
    try {
      const response = await pool.request({
        method: request.method,
        path: `${basePath}${request.path}`,
        query: request.query ?? {},
        headers: request.body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
        body: request.body === undefined ? null : JSON.stringify(request.body),
        signal: deadline.signal,
        onInfo: createInfoLimit(),
      });
      status = response.statusCode;
      const isWhole = await readText(response.body, maxResponseBytes, (part) => {
        text += part;
      });
      if (!isWhole) return fail('too-large');
      const json = redactStrings(parseJson(text), redactSecrets);
      text = redactSecrets(text);
      const retryAt = readRetryAfter(response.headers['retry-after']);
      return { kind: 'answered', status, headers: response.headers, retryAt, text, json };
    } catch (error) {
      if (deadline.hasExpired()) return fail('timed-out');
      deadline.signal.throwIfAborted();
      return fail(status === undefined ? reasonBeforeResponse(error) : 'truncated');
    }
  }
}

/** Reads a body as UTF-8, part by part. @returns false if it is larger than `maxBytes`; the rest is not read */
function readText(body: Readable, maxBytes: number, onPart: (part: string) => void): Promise<boolean> {
  const decoder = new TextDecoder();
  let remainingBytes = maxBytes;
  return new Promise((resolve, reject) => {
    body.on('error', reject);
    body.on('data', (chunk: Uint8Array) => {
      onPart(decoder.decode(chunk.subarray(0, remainingBytes), { stream: true }));
      remainingBytes -= chunk.byteLength;
      if (remainingBytes >= 0) return;
      resolve(false);
      body.destroy();
    });
    body.on('end', () => {
      onPart(decoder.decode());
      resolve(true);
    });
  });
}

/**
 * The date of a `Retry-After` header: seconds from now or an HTTP date (RFC 9110, section 10.2.3). Null when it is
 * absent or neither.
 */
export function readRetryAfter(header: string | string[] | undefined): Date | null {
  const value = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return new Date(Date.now() + Number(value) * 1_000);
  // Date.parse alone finds a date in almost anything, even in "-5".
  const at = value.endsWith('GMT') ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : new Date(at);
}

/** An upstream could send interim responses (1xx) until the deadline. */
function createInfoLimit(): () => void {
  let infos = 0;
  return () => {
    infos += 1;
    if (infos > maxInfos) throw tooManyInfos;
  };
}

const maxInfos = 20;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
