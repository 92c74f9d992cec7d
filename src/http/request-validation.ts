import type { IncomingMessage, ServerResponse } from 'node:http';
import Negotiator from 'negotiator';
import { readBody } from './body.ts';
import type { Cors } from './cors.ts';
import { sendError } from './error-response.ts';

interface AdmissionOptions {
  /** Largest request body, in bytes. */
  maxBodyBytes: number;
  cors: Cors;
}

/** Lets a request in to GraphQL and makes it ready; false where it was refused, or broken off. */
export type Admit = (request: IncomingMessage, response: ServerResponse, search: string) => Promise<boolean>;

/** Who and what is let in to GraphQL, as https://graphql.github.io/graphql-over-http/draft/ has it. */
export function createRequestValidation({ maxBodyBytes, cors }: AdmissionOptions): Admit {
  return async (request, response, search) => {
    const accepted = chooseMediaType(request);
    if (accepted === undefined) {
      sendError(response, 406, 'BAD_USER_INPUT', `Answers are ${answerTypes.join(' or ')}; accept one of them.`);
      return false;
    }
    // Yoga knows no weights.
    request.headers.accept = accepted;
    if (request.method === 'POST') return admitBody(request, response);
    if (request.method === 'GET') return admitSearch(new URLSearchParams(search), request, response);
    return true;
  };

  /** A query in the URL: any page can have it sent, by an image for instance, and look-ups are paid for. */
  function admitSearch(search: URLSearchParams, request: IncomingMessage, response: ServerResponse): boolean {
    const { headers } = request;
    const isFetched = headers['sec-fetch-site'] !== 'cross-site' || headers['sec-fetch-mode'] === 'cors';
    if (!isFetched || !cors.isWelcome(request)) {
      sendError(response, 403, 'FORBIDDEN', 'Other sites may ask by fetch only, from an origin in CORS_ORIGINS.');
      return false;
    }
    const broken = ['variables', 'extensions'].find((name) => !isJson(search.get(name) || 'null'));
    if (broken === undefined) return true;
    sendError(response, 400, 'BAD_USER_INPUT', `${broken} is no JSON.`);
    return false;
  }

  /** Reads the body, so that GraphQL finds it whole. */
  async function admitBody(request: IncomingMessage, response: ServerResponse): Promise<boolean> {
    // Other types can be sent by any web page without asking (https://fetch.spec.whatwg.org/#cors-safelisted-request-header).
    const type = request.headers['content-type']?.toLowerCase() ?? '';
    if (!/^application\/(graphql\+)?json\s*(;|$)/.test(type)) {
      sendError(response, 415, 'BAD_USER_INPUT', 'Send the query as application/json.');
      return false;
    }
    const { 'content-encoding': encoding = 'identity' } = request.headers;
    if (encoding !== 'identity' || /;\s*charset=(?!"?utf-8"?\s*(;|$))/.test(type)) {
      sendError(response, 415, 'BAD_USER_INPUT', 'Send the query uncompressed and in UTF-8.');
      return false;
    }
    const body = await readBody(request, maxBodyBytes);
    if (body === 'too-large') {
      response.setHeader('connection', 'close');
      sendError(response, 413, 'BAD_USER_INPUT', `The request body is larger than ${maxBodyBytes} bytes.`);
    }
    if (typeof body === 'string') return false;
    // Yoga knows the type in small letters only.
    request.headers['content-type'] = type;
    Object.assign(request, { body });
    return true;
  }
}

/** What answers can be; where a client likes them equally, or does not say, the first. There are no streams. */
const answerTypes = ['application/json', 'application/graphql-response+json'];

const offeredTypes = [...answerTypes, ...answerTypes.map((type) => `${type}; charset=utf-8`)];

/** Whether GraphiQL is wanted rather than an answer, as browsers do that are shown an address. */
export function prefersPage({ headers: { accept = '' } }: IncomingMessage): boolean {
  if (!accept.includes('text/html')) return false;
  return new Negotiator({ headers: { accept } }).mediaType([...offeredTypes, 'text/html']) === 'text/html';
}

function chooseMediaType({ headers }: IncomingMessage): string | undefined {
  const { accept = '' } = headers;
  if (accept === '' || answerTypes.includes(accept)) return accept || answerTypes[0];
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
