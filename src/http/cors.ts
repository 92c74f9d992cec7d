import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Cors {
  /** Lets pages of allowed origins read the response, errors included. */
  setHeaders(request: IncomingMessage, response: ServerResponse): void;
  sendPreflight(request: IncomingMessage, response: ServerResponse): void;
  /** True for allowed origins, the gateway's own origin, and requests without an origin. */
  isAllowed(request: IncomingMessage): boolean;
}

/** Cross-origin resource sharing, without credentials: https://fetch.spec.whatwg.org/#http-cors-protocol */
export function createCors(origins: readonly string[]): Cors {
  const isListed = (origin: string) => origins.includes('*') || origins.includes(origin);
  return {
    setHeaders({ headers: { origin } }, response) {
      if (origins.length > 0) response.appendHeader('vary', 'origin');
      if (origin === undefined || !isListed(origin)) return;
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('access-control-expose-headers', 'x-request-id');
    },
    sendPreflight({ headers }, response) {
      if (response.hasHeader('access-control-allow-origin')) {
        const requestedHeaders = headers['access-control-request-headers'];
        response.setHeader('access-control-allow-methods', 'GET, POST');
        // No header authenticates a caller, so a page may send any.
        if (requestedHeaders !== undefined) response.setHeader('access-control-allow-headers', requestedHeaders);
        response.setHeader('access-control-max-age', maxAgeS);
        response.appendHeader('vary', 'access-control-request-headers');
      }
      // Without a content length, Safari waits for a body.
      response.writeHead(204, { allow: 'GET, POST, OPTIONS', 'content-length': 0 }).end();
    },
    isAllowed({ headers: { origin, host } }) {
      return origin === undefined || isListed(origin) || (URL.canParse(origin) && new URL(origin).host === host);
    },
  };
}

/**
 * Whether other origins can cause this request only after a preflight, unlike by an image or a link. Browsers send no
 * Sec-Fetch-Site header to a plain-http host name.
 */
export function requiresPreflight({ headers }: IncomingMessage): boolean {
  if (/^(same-origin|none)$/.test(String(headers['sec-fetch-site']))) return true;
  return jsonType.test(headers['content-type'] ?? '') || preflightHeaders.some((name) => headers[name]);
}

/** Without a preflight, pages cannot send this type: https://fetch.spec.whatwg.org/#cors-safelisted-request-header */
export const jsonType = /^application\/(graphql\+)?json\s*(;|$)/i;

/** As in the CSRF prevention of Apollo Server and of Yoga. */
const preflightHeaders = ['x-apollo-operation-name', 'apollo-require-preflight', 'x-graphql-yoga-csrf'];

/** The maximum in Chrome. */
const maxAgeS = 7_200;
