import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Events } from '../telemetry/events.ts';
import { isAllowedHost } from './allowed-hosts.ts';
import { sendAnswer } from './compression.ts';
import { createCors } from './cors.ts';
import { answerJson, sendError } from './error-response.ts';
import { type GraphiqlPage, sendPage } from './graphiql.ts';
import { createRequestValidation, prefersPage } from './request-validation.ts';

interface DoorOptions {
  /** Answers an admitted GraphQL request, whose body has been read. */
  graphql: (
    request: IncomingMessage,
    response: ServerResponse,
    context: { requestId: string },
  ) => Response | Promise<Response>;
  graphiql: () => Promise<GraphiqlPage>;
  /** Largest request body, in bytes. */
  maxBodyBytes: number;
  /** Origins whose pages may call from a browser; `*` for any. */
  corsOrigins: readonly string[];
  /** Names under which GraphQL is served, besides those of the loopback interface; `*` for any. */
  allowedHosts: readonly string[];
  /** False as soon as the process was told to stop. */
  isReady: () => boolean;
  /** What /ready tells besides. */
  readiness: () => Readonly<Record<string, string>>;
  events: Events;
}

/** The HTTP door: health, GraphiQL, and who and what is let in to GraphQL. It knows nothing of GraphQL itself. */
export function createRequestHandler({
  graphql,
  graphiql,
  maxBodyBytes,
  corsOrigins,
  allowedHosts,
  isReady,
  readiness,
  events,
}: DoorOptions): RequestListener {
  const cors = createCors(corsOrigins);
  const admit = createRequestValidation({ maxBodyBytes, cors });

  return (request, response) => {
    const requestId = readRequestId(request);
    response.setHeader('x-request-id', requestId);
    cors.mark(request, response);
    open(request, response, requestId).catch((error: unknown) => {
      if (response.destroyed) return;
      events.unexpectedError(error, requestId);
      if (response.headersSent) response.destroy();
      else sendError(response, 500, 'INTERNAL_SERVER_ERROR', 'Something went wrong inside the gateway.');
    });
  };

  async function open(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    const host = `http://${request.headers.host ?? 'localhost'}`;
    // Yoga makes a URL of it.
    if (!URL.canParse(host) || /[/\\?#@]/.test(request.headers.host ?? ''))
      return sendError(response, 400, 'BAD_USER_INPUT', 'The header Host is no host.');
    const [path, search = ''] = (request.url ?? '').split('?', 2);
    // Probes call by whatever address they find us at, and these two tell nothing.
    if (path === '/health') return answerJson(response, 200, { status: 'alive' });
    if (path === '/ready') {
      const [code, status] = isReady() ? ([200, 'ready'] as const) : ([503, 'stopping'] as const);
      return answerJson(response, code, { status, ...readiness() });
    }
    if (!isAllowedHost(new URL(host).hostname, allowedHosts)) {
      const message = 'The gateway does not answer under this name; its ALLOWED_HOSTS can list it.';
      return sendError(response, 421, 'FORBIDDEN', message);
    }
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    const isBrowser = isRead && prefersPage(request);
    if (path === '/' && isBrowser) {
      response.writeHead(302, { location: '/graphql', vary: 'accept' }).end();
      return;
    }
    if (path !== '/graphql') {
      return sendError(response, 404, 'BAD_USER_INPUT', 'There is nothing here; GraphQL is at /graphql.');
    }
    if (request.method === 'OPTIONS') return cors.answerPreflight(request, response);
    if (isBrowser) return sendPage(request, response, await graphiql());
    if (!(await admit(request, response, search))) return;
    await sendAnswer(request, response, await graphql(request, response, { requestId }));
  }
}

/** The caller's own id, so that one request can be followed through several services, or a new one. */
function readRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}
