import { chooseMediaType } from '../graphql/request/reply.ts';
import { parseJson } from '../parse-json.ts';
import { type Cors, jsonType, requiresPreflight } from './cors.ts';
import type { Exchange } from './exchange.ts';

/**
 * Enforces https://graphql.github.io/graphql-over-http/draft/ and prevents other sites from causing upstream calls.
 * @returns false if an error was sent
 */
export function validateRequest(exchange: Exchange, search: string, cors: Cors): boolean {
  const mediaType = chooseMediaType(exchange.headers.accept);
  if (mediaType === null) {
    const message = 'The Accept header must allow application/json or application/graphql-response+json.';
    exchange.sendError(406, 'BAD_USER_INPUT', message);
    return false;
  }
  exchange.mediaType = mediaType;
  const { method } = exchange.request;
  return method === 'POST' ? validatePost(exchange) : method !== 'GET' || validateGet(exchange, search, cors);
}

function validateGet(exchange: Exchange, search: string, cors: Cors): boolean {
  if (!requiresPreflight(exchange.request)) {
    const message = 'GET requires the header content-type: application/json or apollo-require-preflight: true.';
    exchange.sendError(403, 'FORBIDDEN', message);
    return false;
  }
  if (!cors.isAllowed(exchange.request)) {
    const message = 'Pages of this origin may not send GET requests; the operator can add it to CORS_ORIGINS.';
    exchange.sendError(403, 'FORBIDDEN', message);
    return false;
  }
  const params = new URLSearchParams(search);
  const malformed = ['variables', 'extensions'].find((name) => parseJson(params.get(name) || 'null') === undefined);
  if (malformed === undefined) return true;
  exchange.sendError(400, 'BAD_USER_INPUT', `${malformed} must be valid JSON.`);
  return false;
}

function validatePost(exchange: Exchange): boolean {
  const { 'content-type': type = '', 'content-encoding': encoding = 'identity' } = exchange.headers;
  if (type === 'application/json' && encoding === 'identity') return true;
  if (!jsonType.test(type)) {
    exchange.sendError(415, 'BAD_USER_INPUT', 'The Content-Type header must be application/json.');
    return false;
  }
  if (encoding === 'identity' && !/;\s*charset=(?!"?utf-8"?\s*(;|$))/i.test(type)) return true;
  exchange.sendError(415, 'BAD_USER_INPUT', 'The request body must be uncompressed and encoded in UTF-8.');
  return false;
}
