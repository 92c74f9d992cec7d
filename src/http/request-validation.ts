import type { IncomingMessage, ServerResponse } from 'node:http';
import Negotiator from 'negotiator';
import { readBody } from './body.ts';
import type { ByteBudget } from './byte-budget.ts';
import { type Cors, jsonType, requiresPreflight } from './cors.ts';
import { sendError } from './json-response.ts';

interface RequestValidationOptions {
  /** Maximum size of a request body, in bytes. */
  maxBodyBytes: number;
  budget: ByteBudget;
  cors: Cors;
}

/** Enforces https://graphql.github.io/graphql-over-http/draft/ and prevents other sites from causing upstream calls. */
export function createRequestValidation({ maxBodyBytes, budget, cors }: RequestValidationOptions) {
  /** Prepares a request for GraphQL. @returns false if an error was sent or the client disconnected */
  return async (request: IncomingMessage, response: ServerResponse, search: string): Promise<boolean> => {
    const accepted = chooseMediaType(request);
    if (accepted === undefined) {
      sendError(response, 406, 'BAD_USER_INPUT', `The Accept header must allow ${responseTypes.join(' or ')}.`);
      return false;
    }
    // Yoga ignores quality values.
    request.headers.accept = accepted;
    if (request.method === 'POST') return validatePost(request, response);
    if (request.method === 'GET') return validateGet(new URLSearchParams(search), request, response);
    return true;
  };

  function validateGet(search: URLSearchParams, request: IncomingMessage, response: ServerResponse): boolean {
    if (!requiresPreflight(request)) {
      const message = 'GET requires the header content-type: application/json or apollo-require-preflight: true.';
      sendError(response, 403, 'FORBIDDEN', message);
      return false;
    }
    if (!cors.isAllowed(request)) {
      const message = 'Pages of this origin may not send GET requests; the operator can add it to CORS_ORIGINS.';
      sendError(response, 403, 'FORBIDDEN', message);
      return false;
    }
    const malformed = ['variables', 'extensions'].find((name) => !isJson(search.get(name) || 'null'));
    if (malformed === undefined) return true;
    sendError(response, 400, 'BAD_USER_INPUT', `${malformed} must be valid JSON.`);
    return false;
  }

  /** Attaches the body to the request, where Yoga looks for it. */
  async function validatePost(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    const type = request.headers['content-type']?.toLowerCase() ?? '';
    if (!jsonType.test(type)) {
      sendError(response, 415, 'BAD_USER_INPUT', 'The Content-Type header must be application/json.');
      return false;
    }
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (encoding !== 'identity' || /;\s*charset=(?!"?utf-8"?\s*(;|$))/.test(type)) {
      sendError(response, 415, 'BAD_USER_INPUT', 'The request body must be uncompressed and encoded in UTF-8.');
      return false;
    }
    const body = await readBody(request, response, { maxBytes: maxBodyBytes, budget });
    if (body === 'too-large') {
      response.setHeader('connection', 'close');
      sendError(response, 413, 'BAD_USER_INPUT', `The request body must have at most ${maxBodyBytes} bytes.`);
    }
    if (body === 'evicted') {
      response.setHeader('connection', 'close').setHeader('retry-after', 1);
      const message = 'The gateway is receiving more bytes than MAX_BUFFERED_BYTES; retry in a second.';
      sendError(response, 503, 'OVERLOADED', message);
    }
    if (typeof body === 'string') return false;
    // Yoga compares the type case-sensitively.
    request.headers['content-type'] = type;
    Object.assign(request, { body: createBodyView(body) });
    return true;
  }
}

/** Yoga lists the keys of a body, and a Buffer has one per byte: 100 ms and 50 MB for 1 MB. */
function createBodyView({ buffer, byteOffset, byteLength }: Buffer) {
  return { buffer, byteOffset, byteLength, [Symbol.toStringTag]: 'Uint8Array' };
}

/** In our order of preference. Streams are not supported. */
const responseTypes = ['application/json', 'application/graphql-response+json'];

const offeredTypes = [...responseTypes, ...responseTypes.map((type) => `${type}; charset=utf-8`)];

/** Whether the client prefers a page to JSON, as browsers do for an address that a user opens. */
export function prefersHtml({ headers: { accept = '' } }: IncomingMessage): boolean {
  if (!accept.includes('text/html')) return false;
  return new Negotiator({ headers: { accept } }).mediaType([...offeredTypes, 'text/html']) === 'text/html';
}

function chooseMediaType({ headers }: IncomingMessage): string | undefined {
  const { accept = '' } = headers;
  if (accept === '' || responseTypes.includes(accept)) return accept || responseTypes[0];
  return new Negotiator({ headers: { accept } }).mediaType(offeredTypes)?.replace(/;.*/, '');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
