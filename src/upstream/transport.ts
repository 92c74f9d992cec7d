import { Pool } from 'undici';
import type { ServiceName } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import type { RedactSecrets } from '../telemetry/redact.ts';
import type { CallSpan } from '../trace.ts';
import { Call } from './call.ts';
import type { Answered, Failed, MakeCall } from './operation.ts';

interface TransportOptions {
  service: ServiceName;
  baseUrl: string;
  /** Sent with every request, including the API key. */
  headers: Readonly<Record<string, string>>;
  maxResponseBytes: number;
  maxConnections: number;
  /** Whether the service runs inside the process: then it receives the trace context of a request. */
  isSelfHosted?: boolean;
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
  isSelfHosted = false,
  redactSecrets,
  events,
}: TransportOptions): { makeCall: MakeCall; close(): Promise<void> } {
  const { origin, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/$/, '');
  // The deadline bounds the whole call, so undici's timeouts for headers and body are off.
  const pool = new Pool(origin, { connections: maxConnections, headersTimeout: 0, bodyTimeout: 0 });
  const headerList = Object.entries(headers).flat();
  const jsonHeaderList = [...headerList, 'content-type', 'application/json'];
  const callOptions = { maxResponseBytes, redactSecrets };

  return {
    makeCall: (request, deadline, trace = null, retries = 0) =>
      new Promise((resolve, reject) => {
        const { method, path, query, body } = request;
        const span = trace === null ? null : trace.startCall({ service, method, path, retries });
        const startedAt = performance.now();
        const onSettled = (outcome: Answered | Failed) => {
          events.upstreamCalled({ service, method, path, outcome, durationMs: performance.now() - startedAt });
          span?.end(outcome);
          resolve(outcome);
        };
        const sentHeaders = body === undefined ? headerList : jsonHeaderList;
        pool.dispatch(
          {
            // Otherwise undici composes it for each call.
            origin,
            method,
            path: basePath + path + toQueryString(query),
            headers: span === null || !isSelfHosted ? sentHeaders : [...sentHeaders, ...span.headers],
            body: body === undefined ? null : JSON.stringify(body),
          },
          new Call(callOptions, deadline, onSettled, span === null ? reject : rejectTraced(span, reject)),
        );
      }),
    close: () => pool.destroy(),
  };
}

/** Ends the span of a call whose caller has aborted. */
function rejectTraced(span: CallSpan, reject: (reason: unknown) => void): (reason: unknown) => void {
  return (reason) => {
    span.end(null);
    reject(reason);
  };
}

function toQueryString(query: Readonly<Record<string, string>> | undefined): string {
  let text = '';
  for (const name in query) text += `${text === '' ? '?' : '&'}${name}=${encode(query[name] ?? '')}`;
  return text;
}

/** Also of a text that is not valid Unicode: its lone surrogates are replaced. */
function encode(text: string): string {
  try {
    return encodeURIComponent(text);
  } catch {
    return encodeURIComponent(Buffer.from(text).toString());
  }
}
