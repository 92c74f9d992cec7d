import { SyncPromise } from '../async/sync-promise.ts';
import type { ServiceName } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import type { RedactSecrets } from '../telemetry/redact.ts';
import { Call } from './call.ts';
import { type CallEnd, createConnections } from './connections.ts';
import type { Answered, Failed, MakeCall, Outcome } from './operation.ts';

interface TransportOptions {
  service: ServiceName;
  baseUrl: string;
  /** Sent with every request, including the API key. */
  headers: Readonly<Record<string, string>>;
  maxResponseBytes: number;
  /** Largest number of calls in flight; the bulkhead limits them. */
  maxConcurrency: number;
  /** Whether the service runs inside the process: then it receives the trace context of a request. */
  isSelfHosted?: boolean;
  /** Applied to every response: some services echo the key that they received. */
  redactSecrets: RedactSecrets;
  events: Pick<Events, 'upstreamCalled'>;
}

/** Sends each attempt with undici: kept connections, one deadline, a size limit. */
export function createTransport({
  service,
  baseUrl,
  headers,
  maxResponseBytes,
  maxConcurrency,
  isSelfHosted = false,
  redactSecrets,
  events,
}: TransportOptions): { makeCall: MakeCall; close(): Promise<void> } {
  const { origin, pathname } = new URL(baseUrl);
  const basePath = pathname.replace(/\/$/, '');
  const connections = createConnections({ origin, maxCalls: maxConcurrency });
  const headerList = Object.entries(headers).flat();
  const jsonHeaderList = [...headerList, 'content-type', 'application/json'];
  const callOptions = { maxResponseBytes, redactSecrets };

  return {
    makeCall(request, deadline, trace = null, retries = 0) {
      const { method, path, query, body } = request;
      const span = trace === null ? null : trace.startCall({ service, method, path, retries });
      const promise = new SyncPromise<Outcome>();
      const connection = connections.take();
      const startedAt = performance.now();
      const onSettled = (outcome: Answered | Failed) => {
        connections.release(connection, outcome.kind === 'answered' ? 'complete' : endOf(call));
        events.upstreamCalled({ service, method, path, outcome, durationMs: performance.now() - startedAt });
        span?.end(outcome);
        promise.resolve(outcome);
      };
      const onAborted = (reason: unknown) => {
        connections.release(connection, endOf(call));
        span?.end(null);
        promise.reject(reason);
      };
      const call = new Call(callOptions, deadline, onSettled, onAborted);
      const sentHeaders = body === undefined ? headerList : jsonHeaderList;
      connection.dispatch(
        {
          // Otherwise undici composes it for each call.
          origin,
          method,
          path: basePath + path + toQueryString(query),
          headers: span === null || !isSelfHosted ? sentHeaders : [...sentHeaders, ...span.headers],
          body: body === undefined ? null : JSON.stringify(body),
        },
        call,
      );
      return promise;
    },
    close: connections.close,
  };
}

/** Of a call without a complete response. */
function endOf(call: Call): CallEnd {
  return call.isSent ? 'broken' : 'unsent';
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
