import { type IncomingMessage, METHODS } from 'node:http';
import { parseJson } from '../../base/parse-json.ts';
import { isLoopback } from '../../base/variables/parsers.ts';
import { headerValues } from '../callers/access.ts';
import { jsonTypes } from '../graphql/request/graphql-handler.ts';
import { chooseMediaType } from '../graphql/request/reply.ts';
import { chooseStreamFormat } from '../graphql/request/stream-formats.ts';
import type { Events } from '../telemetry/events.ts';
import type { Exchange } from './exchange.ts';

/**
 * Enforces GraphQL over HTTP, September 2026 (https://http-spec.graphql.org/September2026/), "Request", and prevents other sites
 * from causing upstream calls.
 * @returns false if an error was sent
 */
export function validateRequest(exchange: Exchange, cors: Cors): boolean {
  const { accept } = exchange.headers;
  const mediaType = chooseMediaType(accept);
  if (mediaType === null && chooseStreamFormat(accept) === null) {
    return refuse(exchange, 406, `The Accept header must allow ${jsonTypes}.`);
  }
  exchange.mediaType = mediaType ?? 'application/json';
  exchange.isStreamOnly = mediaType === null;
  const { method } = exchange;
  if (method === 'GET') return validateGet(exchange, cors);
  if (method === 'POST' || method === 'QUERY') return validatePost(exchange);
  const message = `The path /graphql accepts ${graphqlMethods} and OPTIONS only.`;
  exchange.sendError(405, 'BAD_USER_INPUT', message, ['allow', graphqlMethods]);
  return false;
}

function validateGet(exchange: Exchange, cors: Cors): boolean {
  if (!requiresPreflight(exchange.request)) {
    const message = 'GET requires the header graphql-require-preflight: true or content-type: application/json.';
    return refuse(exchange, 403, message);
  }
  if (!cors.isAllowed(exchange.request)) {
    const message = 'Pages of this origin may not send GET requests; the operator can add it to CORS_ORIGINS.';
    return refuse(exchange, 403, message);
  }
  const params = new URLSearchParams(exchange.search);
  const malformed = ['variables', 'extensions'].find((name) => parseJson(params.get(name) || 'null') === undefined);
  return malformed === undefined || refuse(exchange, 400, `${malformed} must be valid JSON.`);
}

/** Of QUERY, too, which browsers never send to another origin without a preflight. @returns false if an error was sent */
export function validatePost(exchange: Exchange): boolean {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = exchange.headers;
  if (type === 'application/json' && encoding === 'identity') return true;
  if (!jsonType.test(type)) return refuse(exchange, 415, 'The Content-Type header must be application/json.');
  if (encoding.toLowerCase() !== 'identity') {
    const message = 'The request body must not be compressed: without a Content-Encoding header, or with identity.';
    return refuse(exchange, 415, message);
  }
  if (!/;\s*charset=(?!"?utf-?8"?\s*(;|$))/i.test(type)) return true;
  return refuse(exchange, 415, 'The charset of the Content-Type header must be utf-8.');
}

function refuse(exchange: Exchange, status: number, message: string): false {
  exchange.sendError(status, status === 403 ? 'FORBIDDEN' : 'BAD_USER_INPUT', message);
  return false;
}

/**
 * Whether other origins can cause this request only after a preflight, unlike by an image or a link. Browsers send no
 * Sec-Fetch-Site header to a plain-http host name.
 */
function requiresPreflight({ headers }: IncomingMessage): boolean {
  if (/^(same-origin|none)$/.test(String(headers['sec-fetch-site']))) return true;
  return jsonType.test(headers['content-type'] ?? '') || preflightHeaders.some((name) => headers[name]);
}

/** Without a preflight, pages cannot send this type: https://fetch.spec.whatwg.org/#cors-safelisted-request-header */
const jsonType = /^application\/(graphql\+)?json\s*(;|$)/i;

/** The first as in GraphQL over HTTP, September 2026, "Exercise caution"; the others as in Apollo Server and in Yoga. */
const preflightHeaders = [
  'graphql-require-preflight',
  'apollo-require-preflight',
  'x-apollo-operation-name',
  'x-graphql-yoga-csrf',
];

/**
 * Replaces a target in absolute form by its path, and the Host header by its host, which counts instead (RFC 9112, 3.2.2).
 * Proxies send such targets. A path is not changed, nor is `*`.
 * @returns false if the target is none of these, or contains a user name
 */
export function normalizeTarget(request: IncomingMessage): boolean {
  const { url = '' } = request;
  if (/^[/*]/.test(url)) return true;
  const [, host, path = ''] = /^https?:\/\/([^/?#@]+)([/?].*)?$/i.exec(url) ?? [];
  if (host === undefined) return false;
  request.headers.host = host;
  request.url = path.startsWith('/') ? path : `/${path}`;
  return true;
}

/** What the Host header of a request allows. `malformed` also if it is repeated. */
type HostCheck = 'allowed' | 'forbidden' | 'malformed';

/**
 * Prevents DNS rebinding: an attacker's host name may resolve to 127.0.0.1. The attacker's page and the gateway then have
 * the same origin, so that CORS does not protect the gateway.
 * @param allowedHosts names besides the names of the loopback interface; `*` for any
 */
export function createHostCheck(allowedHosts: readonly string[]): (request: IncomingMessage) => HostCheck {
  let last: { host: string; result: HostCheck } = { host: '', result: 'malformed' };

  return ({ headers: { host = 'localhost' }, rawHeaders }) => {
    // Node.js ignores further Host headers, but a proxy in front of the gateway may use the last (RFC 9112, 3.2).
    if (headerValues(rawHeaders, 'host').length > 1) return 'malformed';
    // Almost all requests have the same host.
    if (host !== last.host) last = { host, result: checkHost(host) };
    return last.result;
  };

  function checkHost(host: string): HostCheck {
    if (/[/\\?#@]/.test(host) || !URL.canParse(`http://${host}`)) return 'malformed';
    const { hostname } = new URL(`http://${host}`);
    const isAllowed = isLoopback(hostname) || allowedHosts.includes('*') || allowedHosts.includes(hostname);
    return isAllowed ? 'allowed' : 'forbidden';
  }
}

export type Cors = ReturnType<typeof createCors>;

/** Cross-origin resource sharing, without credentials: https://fetch.spec.whatwg.org/#http-cors-protocol */
export function createCors(origins: readonly string[], events: Pick<Events, 'preflightRefused'>) {
  const isListed = (origin: string) => origins.includes('*') || origins.includes(origin);
  return {
    /** Lets pages of allowed origins read the response, errors included. */
    addHeaders({ headers: { origin }, responseHeaders }: Exchange): void {
      if (origins.length > 0) responseHeaders.push('vary', 'origin');
      if (origin === undefined || !isListed(origin)) return;
      responseHeaders.push('access-control-allow-origin', origin, 'access-control-expose-headers', exposedHeaders);
    },
    sendPreflight(exchange: Exchange): void {
      const { origin, 'access-control-request-headers': requested } = exchange.headers;
      // Without a content length, Safari waits for a body.
      const methods = exchange.route === '/graphql' ? graphqlMethods : 'GET, POST';
      const headers = ['allow', `${methods}, OPTIONS`];
      // RFC 10008, 3: what QUERY accepts.
      if (methods.includes('QUERY')) headers.push('accept-query', 'application/json');
      if (origin !== undefined && isListed(origin)) {
        headers.push('access-control-allow-methods', methods);
        // Browsers add no credentials by themselves: a page must know the key or token that it sends.
        if (requested !== undefined) headers.push('access-control-allow-headers', requested);
        headers.push('access-control-max-age', maxAgeS, 'vary', 'access-control-request-headers');
      } else if (origin !== undefined && !isAllowed(exchange.request)) {
        // The browser shows the page only that it failed, and sends no request that could be logged.
        events.preflightRefused(origin.slice(0, maxOriginLength));
      }
      exchange.send(204, headers);
    },
    isAllowed,
  };

  /** True for allowed origins, the gateway's own origin, and requests without an origin. */
  function isAllowed({ headers: { origin, host } }: IncomingMessage): boolean {
    return origin === undefined || isListed(origin) || (URL.canParse(origin) && new URL(origin).host === host);
  }
}

/** The parser of Node.js knows QUERY (RFC 10008) since 20.19.2, and refuses it before. */
const graphqlMethods = ['GET', 'POST', 'QUERY'].filter((method) => METHODS.includes(method)).join(', ');

/** In the log: a host name has at most 253 characters. */
const maxOriginLength = 300;

/** Pages need them to log in again, to wait, or to say which bank lists a file was compared with. */
const exposedHeaders = 'x-request-id, retry-after, www-authenticate, outdated-bank-lists';

/** The maximum in Chrome. */
const maxAgeS = '7200';
