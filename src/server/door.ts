import { randomUUID } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { ErrorCode } from '../errors.ts';
import type { Events } from '../telemetry/events.ts';
import { readBody } from './body.ts';
import type { GraphiqlPage } from './graphiql.ts';

interface DoorOptions {
  /** Answers an admitted GraphQL request, whose body has been read. */
  graphql: (request: IncomingMessage, response: ServerResponse, context: { requestId: string }) => unknown;
  graphiql: () => Promise<GraphiqlPage>;
  /** Largest request body, in bytes. */
  maxBodyBytes: number;
  /** False as soon as the process was told to stop. */
  isReady: () => boolean;
  /** What /ready tells besides. */
  readiness: () => Readonly<Record<string, string>>;
  events: Events;
}

/** The HTTP door: health, GraphiQL, and who and what is let in to GraphQL. It knows nothing of GraphQL itself. */
export function createDoor({
  graphql,
  graphiql,
  maxBodyBytes,
  isReady,
  readiness,
  events,
}: DoorOptions): RequestListener {
  return (request, response) => {
    const requestId = readRequestId(request);
    response.setHeader('x-request-id', requestId);
    open(request, response, requestId).catch((error: unknown) => {
      if (response.destroyed) return;
      events.unexpectedError(error, requestId);
      if (response.headersSent) response.destroy();
      else refuse(response, requestId, 500, 'INTERNAL_SERVER_ERROR', 'Something went wrong inside the gateway.');
    });
  };

  async function open(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<void> {
    // Yoga makes a URL of it.
    if (!URL.canParse(`http://${request.headers.host ?? 'localhost'}`)) {
      return refuse(response, requestId, 400, 'BAD_USER_INPUT', 'The header Host is no host.');
    }
    const [path, search = ''] = (request.url ?? '').split('?', 2);
    const isBrowser = request.method === 'GET' && (request.headers.accept ?? '').includes('text/html');
    if (path === '/health') return answerJson(response, 200, { status: 'alive' });
    if (path === '/ready') {
      const [code, status] = isReady() ? ([200, 'ready'] as const) : ([503, 'stopping'] as const);
      return answerJson(response, code, { status, ...readiness() });
    }
    if (path === '/' && isBrowser) {
      response.writeHead(302, { location: '/graphql' }).end();
      return;
    }
    if (path !== '/graphql') {
      return refuse(response, requestId, 404, 'BAD_USER_INPUT', 'There is nothing here; GraphQL is at /graphql.');
    }
    if (isBrowser) return answerPage(request, response, await graphiql());
    const isAdmitted =
      request.method === 'POST'
        ? await admitBody(request, response, requestId)
        : admitSearch(new URLSearchParams(search), request, response, requestId);
    if (isAdmitted) await graphql(request, response, { requestId });
  }

  /** A query in the URL: any page's image can send it, and look-ups are paid for. */
  function admitSearch(
    search: URLSearchParams,
    { method, headers }: IncomingMessage,
    response: ServerResponse,
    requestId: string,
  ): boolean {
    if (method !== 'GET') return true;
    if (headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'cors') {
      refuse(
        response,
        requestId,
        403,
        'FORBIDDEN',
        'Other sites may ask by fetch only, from an origin in CORS_ORIGINS.',
      );
      return false;
    }
    const broken = ['variables', 'extensions'].find((name) => !isJson(search.get(name) ?? 'null'));
    if (broken === undefined) return true;
    refuse(response, requestId, 400, 'BAD_USER_INPUT', `${broken} is no JSON.`);
    return false;
  }

  /** Reads the body, so that GraphQL finds it whole; false where the request was refused or broken off. */
  async function admitBody(request: IncomingMessage, response: ServerResponse, requestId: string): Promise<boolean> {
    // Other types can be sent by any web page without asking (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
    const type = request.headers['content-type']?.toLowerCase() ?? '';
    if (!/^application\/(graphql\+)?json\s*(;|$)/.test(type)) {
      refuse(response, requestId, 415, 'BAD_USER_INPUT', 'Send the query as application/json.');
      return false;
    }
    const body = await readBody(request, maxBodyBytes);
    if (body === 'too-large') {
      response.setHeader('connection', 'close');
      refuse(response, requestId, 413, 'BAD_USER_INPUT', `The request body is larger than ${maxBodyBytes} bytes.`);
    }
    if (typeof body === 'string') return false;
    // Yoga knows the type in small letters only.
    request.headers['content-type'] = type;
    Object.assign(request, { body });
    return true;
  }
}

/** The caller's own id, so that one request can be followed through several services, or a new one. */
function readRequestId(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && /^[\w.:-]{1,128}$/.test(given) ? given : randomUUID();
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Errors of the door look like GraphQL's, so that clients need one way of reading them. */
function refuse(response: ServerResponse, requestId: string, status: number, code: ErrorCode, message: string): void {
  answerJson(response, status, {
    errors: [{ message, extensions: { code, service: null, retryable: false, requestId } }],
  });
}

function answerJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(body));
}

function answerPage(request: IncomingMessage, response: ServerResponse, { html, gzipped }: GraphiqlPage): void {
  const isGzipAccepted = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-cache',
    vary: 'accept, accept-encoding',
    ...(isGzipAccepted && { 'content-encoding': 'gzip' }),
  });
  response.end(isGzipAccepted ? gzipped : html);
}
