import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { internalErrorMessage } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import { isAllowedHost, readHostname } from './allowed-hosts.ts';
import { createByteBudget } from './byte-budget.ts';
import { sendReply } from './compression.ts';
import { createCors } from './cors.ts';
import { type GraphiqlPage, sendPage } from './graphiql.ts';
import { sendError, sendJson } from './json-response.ts';
import { createRequestValidation, prefersHtml } from './request-validation.ts';

interface RequestHandlerOptions {
  /** Executes a validated request whose body has been read. */
  graphql: (
    request: IncomingMessage,
    response: ServerResponse,
    context: { requestId: string },
  ) => Response | Promise<Response>;
  graphiql: () => Promise<GraphiqlPage>;
  /** Maximum size of a request body, in bytes. */
  maxBodyBytes: number;
  /** Limit for all request bodies and unread responses in memory, in bytes. */
  maxBufferedBytes: number;
  /** Origins whose pages may call from a browser; `*` for any. */
  corsOrigins: readonly string[];
  /** Host names under which GraphQL is served, in addition to those of the loopback interface; `*` for any. */
  allowedHosts: readonly string[];
  /** False once the process is stopping. */
  isReady: () => boolean;
  /** Additional fields of the response to /ready. */
  readiness: () => Readonly<Record<string, string>>;
  events: Pick<Events, 'unexpectedError'>;
}

/** Serves health checks and GraphiQL, and passes valid requests on to GraphQL. */
export function createRequestHandler({
  graphql,
  graphiql,
  maxBodyBytes,
  maxBufferedBytes,
  corsOrigins,
  allowedHosts,
  isReady,
  readiness,
  events,
}: RequestHandlerOptions): RequestListener {
  const cors = createCors(corsOrigins);
  const budget = createByteBudget(maxBufferedBytes);
  const validateRequest = createRequestValidation({ maxBodyBytes, budget, cors });

  return (request, response) => {
    const requestId = readRequestId(request);
    response.setHeader('x-request-id', requestId);
    response.setHeader('x-content-type-options', 'nosniff');
    cors.setHeaders(request, response);
    handleRequest(request, response, requestId).catch((error: unknown) => {
      if (response.destroyed) return;
      events.unexpectedError(error, requestId);
      if (response.headersSent) response.destroy();
      else sendError(response, 500, 'INTERNAL_SERVER_ERROR', internalErrorMessage);
    });
  };

  async function handleRequest(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    // Checked first, because Yoga builds a URL from it.
    const hostname = readHostname(request);
    if (hostname === null) {
      return sendError(
        response,
        400,
        'BAD_USER_INPUT',
        'The request must have one Host header, a host name with an optional port.',
      );
    }
    const [path, ...search] = (request.url ?? '').split('?');
    // Served under any host name: health checks use arbitrary addresses and return no data.
    if (path === '/health') return sendJson(response, 200, { status: 'alive' });
    if (path === '/ready') {
      const [code, status] = isReady() ? ([200, 'ready'] as const) : ([503, 'stopping'] as const);
      return sendJson(response, code, { status, ...readiness() });
    }
    if (!isAllowedHost(hostname, allowedHosts)) {
      const message = 'The gateway does not serve this host name; its operator can add it to ALLOWED_HOSTS.';
      return sendError(response, 421, 'FORBIDDEN', message);
    }
    const isGetOrHead = request.method === 'GET' || request.method === 'HEAD';
    const isBrowser = isGetOrHead && prefersHtml(request);
    if (path === '/' && isBrowser) {
      response.writeHead(302, { location: '/graphql', vary: 'accept' }).end();
      return;
    }
    if (path !== '/graphql') {
      return sendError(response, 404, 'BAD_USER_INPUT', 'There is no such path; the GraphQL endpoint is /graphql.');
    }
    if (request.method === 'OPTIONS') return cors.sendPreflight(request, response);
    if (isBrowser) return sendPage(request, response, await graphiql());
    if (!(await validateRequest(request, response, search.join('?')))) return;
    await sendReply(request, response, await graphql(request, response, { requestId }));
    if (response.destroyed || response.writableLength === 0) return;
    const unread = budget.hold(() => response.destroy());
    response.once('close', unread.release);
    unread.add(response.writableLength);
  }
}

/** The client's own id, so that a request can be traced across services; otherwise a new one. */
function readRequestId(request: IncomingMessage): string {
  const id = request.headers['x-request-id'];
  return typeof id === 'string' && /^[\w.:-]{1,128}$/.test(id) ? id : randomUUID();
}
