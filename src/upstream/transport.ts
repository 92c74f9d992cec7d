import type { ServiceName } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import type { RedactSecrets } from '../telemetry/redact.ts';
import { Call } from './call.ts';
import { type Connections, createConnections } from './connections.ts';
import type { Answered, Failed, MakeCall, UpstreamRequest } from './operation.ts';

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

/**
 * Sends each attempt with undici: one deadline, a size limit, and kept connections for reads. Each write has a connection
 * of its own: it may be charged and lost if the service closes a kept one at that moment, and no late response to another
 * call can be taken for its answer.
 */
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
  const kept = createConnections({ origin, maxCalls: maxConcurrency, isKept: true });
  const writing = createConnections({ origin, maxCalls: maxConcurrency, isKept: false });
  const headerList = Object.entries(headers).flat();
  const jsonHeaderList = [...headerList, 'content-type', 'application/json'];
  const callOptions = { maxResponseBytes, redactSecrets, onEnded };

  return {
    makeCall(request, deadline, continuation, trace = null, retries = 0) {
      const { method, path, query, body } = request;
      const span = trace === null ? null : trace.startCall({ service, method, path, retries });
      const call = new Call(callOptions, request, deadline, continuation, connectionsFor(request).take(), span);
      const sentHeaders = body === undefined ? headerList : jsonHeaderList;
      call.connection.dispatch(
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
    },
    async close() {
      await Promise.all([kept.close(), writing.close()]);
    },
  };

  function connectionsFor({ method }: UpstreamRequest): Connections {
    return method === 'POST' ? writing : kept;
  }

  function onEnded(call: Call, outcome: Answered | Failed | null): void {
    const { request, connection, progress, span, startedAt } = call;
    connectionsFor(request).release(connection, progress);
    span?.end(outcome);
    if (outcome === null) return;
    const { method, path } = request;
    events.upstreamCalled({ service, method, path, outcome, durationMs: performance.now() - startedAt });
  }
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
