import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { internalErrorMessage } from '../errors.ts';
import type { AnswerDirectly } from '../graphql/direct-way.ts';
import { prefersHtml } from '../graphql/media-type.ts';
import type { Events } from '../telemetry/events.ts';
import { createHostCheck } from './allowed-hosts.ts';
import { readBody } from './body.ts';
import { createByteBudget } from './byte-budget.ts';
import { createCors } from './cors.ts';
import { Exchange } from './exchange.ts';
import { type GraphiqlPage, sendPage } from './graphiql.ts';
import { validateRequest } from './request-validation.ts';
import { createSendReply } from './send-reply.ts';

interface RequestHandlerOptions {
  answerDirectly: AnswerDirectly;
  /** Answers the requests that are not answered directly. */
  yoga: (
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
  answerDirectly,
  yoga,
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
  const checkHost = createHostCheck(allowedHosts);
  const budget = createByteBudget(maxBufferedBytes);
  const bodyLimits = { maxBytes: maxBodyBytes, budget };
  const sendReply = createSendReply({ onSent: holdUnread });

  return (request, response) => {
    const exchange = new Exchange(request, response);
    cors.addHeaders(exchange);
    guard(exchange, () => handle(exchange));
  };

  /** Nothing is awaited that is there: an ordinary request is answered without a promise. */
  function handle(exchange: Exchange): void | Promise<void> {
    const { request } = exchange;
    const host = checkHost(request);
    if (host === 'malformed') {
      const message = 'The request must have one Host header, a host name with an optional port.';
      return exchange.sendError(400, 'BAD_USER_INPUT', message);
    }
    const [path, ...search] = (request.url ?? '').split('?');
    // Served under any host name: health checks use arbitrary addresses and return no data.
    if (path === '/health') return exchange.sendJson(200, { status: 'alive' });
    if (path === '/ready') {
      const [code, status] = isReady() ? ([200, 'ready'] as const) : ([503, 'stopping'] as const);
      return exchange.sendJson(code, { status, ...readiness() });
    }
    if (host === 'forbidden') {
      const message = 'The gateway does not serve this host name; its operator can add it to ALLOWED_HOSTS.';
      return exchange.sendError(421, 'FORBIDDEN', message);
    }
    const isGetOrHead = request.method === 'GET' || request.method === 'HEAD';
    const isBrowser = isGetOrHead && prefersHtml(exchange.headers.accept);
    if (path === '/' && isBrowser) return exchange.send(302, ['location', '/graphql', 'vary', 'accept']);
    if (path !== '/graphql') {
      return exchange.sendError(404, 'BAD_USER_INPUT', 'There is no such path; the GraphQL endpoint is /graphql.');
    }
    if (request.method === 'OPTIONS') return cors.sendPreflight(exchange);
    if (isBrowser) return graphiql().then((page) => sendPage(exchange, page));
    if (!validateRequest(exchange, search.join('?'), cors)) return;
    if (request.method !== 'POST') return answerWithYoga(exchange);
    readBody(exchange, bodyLimits, (body) => guard(exchange, () => answerPost(exchange, body)));
  }

  function answerPost(exchange: Exchange, body: Buffer | 'too-large' | 'evicted') {
    if (body === 'too-large') {
      const message = `The request body must have at most ${maxBodyBytes} bytes.`;
      return exchange.sendError(413, 'BAD_USER_INPUT', message, closeConnection);
    }
    if (body === 'evicted') {
      const message = 'The gateway is receiving more bytes than MAX_BUFFERED_BYTES; retry in a second.';
      return exchange.sendError(503, 'OVERLOADED', message, [...closeConnection, 'retry-after', '1']);
    }
    exchange.body = body.toString();
    const reply = answerDirectly(exchange);
    if (reply === null) return answerWithYoga(exchange, body);
    return 'then' in reply ? reply.then((reply) => sendReply(exchange, reply)) : sendReply(exchange, reply);
  }

  async function answerWithYoga(exchange: Exchange, body?: Buffer): Promise<void> {
    const { request, response, requestId, mediaType } = exchange;
    // Yoga ignores quality values, and compares the type of the body case-sensitively.
    request.headers.accept = mediaType;
    if (body) {
      request.headers['content-type'] = request.headers['content-type']?.toLowerCase();
      Object.assign(request, { body: createBodyView(body) });
    }
    const answer = await yoga(request, response, { requestId });
    const { 'content-type': _, 'content-length': _length, ...headers } = Object.fromEntries(answer.headers);
    return sendReply(exchange, { status: answer.status, headers, mediaType, body: await answer.text() });
  }

  function holdUnread({ response }: Exchange): void {
    if (response.destroyed || response.writableLength === 0) return;
    const unread = budget.hold(() => response.destroy());
    response.once('close', unread.release);
    unread.add(response.writableLength);
  }

  /** Runs a part of handling a request; a fault is logged and answered. */
  function guard(exchange: Exchange, run: () => void | Promise<void>): void {
    try {
      run()?.catch(fail);
    } catch (error) {
      fail(error);
    }

    function fail(error: unknown): void {
      const { response, requestId } = exchange;
      if (response.destroyed) return;
      events.unexpectedError(error, requestId);
      if (response.headersSent) response.destroy();
      else exchange.sendError(500, 'INTERNAL_SERVER_ERROR', internalErrorMessage);
    }
  }
}

const closeConnection = ['connection', 'close'];

/** Yoga lists the keys of a body, and a Buffer has one per byte: 100 ms and 50 MB for 1 MB. */
function createBodyView({ buffer, byteOffset, byteLength }: Buffer) {
  return { buffer, byteOffset, byteLength, [Symbol.toStringTag]: 'Uint8Array' };
}
