import { internalErrorMessage } from '../../base/errors.ts';
import { type Access, createRefusal, type Refusal } from '../callers/access.ts';
import type { Caller } from '../callers/caller.ts';
import { clientClosedRequest, prefersHtml } from '../graphql/request/reply.ts';
import type { Events } from '../telemetry/events.ts';
import type { StartTrace } from '../telemetry/otlp/request-trace.ts';
import { defaultBodyBytes, readBodyOrRefuse } from './body.ts';
import type { CheckEndpoint } from './check-endpoint.ts';
import { takeUnread } from './event-stream.ts';
import { createRequestIds, createResponseWriter, Exchange } from './exchange.ts';
import type { SendGraphiql } from './graphiql.ts';
import { createGraphqlEndpoint, type GraphqlEndpointOptions } from './graphql-endpoint.ts';
import type { IncomingRequest } from './incoming-request.ts';
import { createCors, createHostCheck, normalizeTarget, validatePost } from './request-validation.ts';
import type { HandleRequest } from './server.ts';
import { createShares } from './shares.ts';

/** The Model Context Protocol over HTTP. */
export interface McpEndpoint {
  /** Sends what clients need to get a token for this gateway. */
  sendMetadata(exchange: Exchange): void;
  /** The refusal with what clients need to authenticate. */
  withChallenge(refusal: Refusal, exchange: Exchange): Refusal;
  answer(exchange: Exchange, caller: Caller, body: Buffer): Promise<void>;
}

interface RequestHandlerOptions extends Omit<GraphqlEndpointOptions, 'access' | 'buffered' | 'cors' | 'onFault'> {
  /** Limit for all request bodies and unread responses in memory, in bytes. */
  maxBufferedBytes: number;
  access: Pick<Access, 'identifyAndCount' | 'identifySignedAndCount' | 'confirm'>;
  graphiql: SendGraphiql;
  /** What answers /check; null: nothing. */
  loadCheck?: (() => Promise<CheckEndpoint>) | null;
  /** What answers /mcp; null: nothing. */
  loadMcp?: (() => Promise<McpEndpoint>) | null;
  /** Whether GraphiQL is served without credentials; otherwise callers need the scope. */
  isGraphiqlOpen: boolean;
  /** Origins whose pages may call from a browser; `*` for any. */
  corsOrigins: readonly string[];
  /** Host names under which GraphQL is served, besides the names of the loopback interface; `*` for any. */
  allowedHosts: readonly string[];
  /** Why load balancers should send it no requests; null if they should. */
  findUnreadiness: () => string | null;
  /** Additional fields of the response to /ready. */
  readiness: () => Readonly<Record<string, string>>;
  /** Null: no traces are exported. */
  startTrace?: StartTrace | null;
  events: Pick<Events, 'unexpectedError' | 'requestFinished' | 'preflightRefused'>;
}

/** Serves health checks and GraphiQL, and passes other requests on to GraphQL, once their headers were checked. */
export function createRequestHandler({
  access,
  graphiql,
  loadCheck = null,
  loadMcp = null,
  isGraphiqlOpen,
  corsOrigins,
  allowedHosts,
  findUnreadiness,
  readiness,
  maxBufferedBytes,
  startTrace = null,
  events,
  ...options
}: RequestHandlerOptions): HandleRequest {
  const cors = createCors(corsOrigins, events);
  const checkHost = createHostCheck(allowedHosts);
  const buffered = createShares(maxBufferedBytes);
  const write = createResponseWriter({
    onUnread: (response) => response.once('close', takeUnread(buffered, response).release),
    onFault: fail,
  });
  const confirmCaller = ({ rawHeaders }: IncomingRequest, caller: Caller) => access.confirm(rawHeaders, caller);
  const exchangeOptions = {
    write,
    onFinished: events.requestFinished,
    readRequestId: createRequestIds(),
    confirmCaller,
  };
  const handleGraphql = createGraphqlEndpoint({ ...options, access, buffered, cors, onFault: fail });

  return (request, response) => {
    const exchange = new Exchange(request, response, exchangeOptions);
    cors.addHeaders(exchange);
    try {
      handle(exchange)?.catch((error: unknown) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  };

  /** A promise only where something is awaited: the body may arrive in this turn, and its receiver should be there. */
  function handle(exchange: Exchange): void | Promise<void> {
    const { request, method } = exchange;
    if (!request.url?.startsWith('/') && !normalizeTarget(request)) {
      const message =
        'The request target must be a path, such as /graphql, or an http:// or https:// URL without user name.';
      return exchange.sendError(400, 'BAD_USER_INPUT', message);
    }
    const host = checkHost(request);
    if (host === 'malformed') {
      const message = 'The request must have one host: a Host header with a host name and an optional port.';
      return exchange.sendError(400, 'BAD_USER_INPUT', message);
    }
    const { url = '' } = request;
    const searchStart = url.indexOf('?');
    const path = searchStart === -1 ? url : url.slice(0, searchStart);
    exchange.search = url.slice(path.length + 1);
    // Served under any host name: health checks use arbitrary addresses and return no data.
    if (path === '/graphql' || path === '/health' || path === '/ready') exchange.route = path;
    else if (path === '/check' || path === '/check/openapi.json') exchange.route = '/check';
    else if (path === '/mcp' || resourceMetadataPaths.includes(path)) exchange.route = '/mcp';
    if (path === '/health') return exchange.sendJson(200, { status: 'alive' });
    if (path === '/ready') {
      const reason = findUnreadiness();
      return exchange.sendJson(reason === null ? 200 : 503, { status: reason ?? 'ready', ...readiness() });
    }
    if (host === 'forbidden') {
      const message = 'The gateway does not serve this host name; its operator can add it to ALLOWED_HOSTS.';
      return exchange.sendError(421, 'FORBIDDEN', message);
    }
    const isGetOrHead = method === 'GET' || method === 'HEAD';
    const isBrowser = isGetOrHead && prefersHtml(exchange.headers.accept);
    if (path === '/' && isBrowser) return exchange.send(302, ['location', '/graphql', 'vary', 'accept']);
    if (exchange.route === '/check' && loadCheck !== null) return handleCheck(exchange, path, loadCheck);
    if (exchange.route === '/mcp' && loadMcp !== null) return handleMcp(exchange, path, loadMcp);
    if (path !== '/graphql') {
      return exchange.sendError(404, 'BAD_USER_INPUT', 'There is no such path; the GraphQL endpoint is /graphql.');
    }
    if (method === 'OPTIONS') return cors.sendPreflight(exchange);
    if (isBrowser && isGraphiqlOpen) return graphiql(exchange);
    if (startTrace !== null && !isBrowser) exchange.trace = startTrace(exchange);
    const found = access.identifyAndCount(request.rawHeaders);
    if (found instanceof Promise) return found.then((found) => handleAdmitted(exchange, found, isBrowser));
    return handleAdmitted(exchange, found, isBrowser);
  }

  function handleAdmitted(
    exchange: Exchange,
    found: Awaited<ReturnType<Access['identifyAndCount']>>,
    isBrowser: boolean,
  ): void | Promise<void> {
    // A signature is checked when the body was read.
    if (found.kind !== 'signed' && exchange.admit(found) === null) return;
    if (!isBrowser) return handleGraphql(exchange);
    if (exchange.caller?.scopes.has('graphiql')) return graphiql(exchange);
    return exchange.sendError(404, 'BAD_USER_INPUT', 'GraphiQL needs credentials with the scope graphiql.');
  }

  async function handleCheck(exchange: Exchange, path: string, load: () => Promise<CheckEndpoint>): Promise<void> {
    const { method, search } = exchange;
    if (method === 'OPTIONS') return cors.sendPreflight(exchange);
    const check = await load();
    if (path !== '/check') return check.sendDocument(exchange);
    if (startTrace !== null) exchange.trace = startTrace(exchange);
    const caller = exchange.admit(await identifyUnsigned(exchange));
    if (caller !== null) await check.answer(exchange, search, caller);
  }

  async function handleMcp(exchange: Exchange, path: string, load: () => Promise<McpEndpoint>): Promise<void> {
    const { method, request } = exchange;
    if (method === 'OPTIONS') return cors.sendPreflight(exchange);
    const mcp = await load();
    if (path !== '/mcp') return mcp.sendMetadata(exchange);
    if (method !== 'POST') {
      return exchange.sendError(405, 'BAD_USER_INPUT', 'The path /mcp accepts POST only.', ['allow', 'POST, OPTIONS']);
    }
    if (!cors.isAllowed(request)) {
      const message = 'Pages of this origin may not use the tools; the operator can add it to CORS_ORIGINS.';
      return exchange.sendError(403, 'FORBIDDEN', message);
    }
    if (!validatePost(exchange)) return;
    if (startTrace !== null) exchange.trace = startTrace(exchange);
    const found = await identifyUnsigned(exchange);
    const caller = exchange.admit(found.kind === 'refused' ? mcp.withChallenge(found, exchange) : found);
    if (caller === null) return;
    const body = await readBodyOrRefuse(exchange, { maxBytes: defaultBodyBytes, buffered });
    if (body !== null) await mcp.answer(exchange, caller, body);
  }

  async function identifyUnsigned({ request, route }: Exchange): Promise<Caller | Refusal> {
    const found = await access.identifyAndCount(request.rawHeaders);
    if (found.kind !== 'signed') return found;
    const message = `POST ${route} needs an API key or a token; the signature of a router is for /graphql.`;
    return createRefusal(401, 'UNAUTHENTICATED', message, { 'www-authenticate': 'Bearer' });
  }

  /** Logs a fault, and answers the request if it has no answer. */
  function fail(exchange: Exchange, error: unknown): void {
    const { response, requestId } = exchange;
    if (response.destroyed) {
      exchange.finish(clientClosedRequest);
      return;
    }
    events.unexpectedError(error, { requestId });
    if (exchange.isAnswered) {
      exchange.finish(500);
      response.destroy();
    } else exchange.sendError(500, 'INTERNAL_SERVER_ERROR', internalErrorMessage);
  }
}

/** RFC 9728, 3.1: before the path of the resource; some clients try the root only. */
const resourceMetadataPaths = ['/mcp', ''].map((path) => `/.well-known/oauth-protected-resource${path}`);
