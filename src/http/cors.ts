import type { IncomingMessage } from 'node:http';
import type { Exchange } from './exchange.ts';

export interface Cors {
  /** Lets pages of allowed origins read the response, errors included. */
  addHeaders(exchange: Exchange): void;
  sendPreflight(exchange: Exchange): void;
  /** True for allowed origins, the gateway's own origin, and requests without an origin. */
  isAllowed(request: IncomingMessage): boolean;
}

/** Cross-origin resource sharing, without credentials: https://fetch.spec.whatwg.org/#http-cors-protocol */
export function createCors(origins: readonly string[]): Cors {
  const isListed = (origin: string) => origins.includes('*') || origins.includes(origin);
  return {
    addHeaders({ headers: { origin }, responseHeaders }) {
      if (origins.length > 0) responseHeaders.push('vary', 'origin');
      if (origin === undefined || !isListed(origin)) return;
      responseHeaders.push('access-control-allow-origin', origin, 'access-control-expose-headers', exposedHeaders);
    },
    sendPreflight(exchange) {
      const { origin, 'access-control-request-headers': requested } = exchange.headers;
      // Without a content length, Safari waits for a body.
      const headers = ['allow', 'GET, POST, OPTIONS'];
      if (origin !== undefined && isListed(origin)) {
        headers.push('access-control-allow-methods', 'GET, POST');
        // Browsers add no credentials by themselves: a page must know the key or token that it sends.
        if (requested !== undefined) headers.push('access-control-allow-headers', requested);
        headers.push('access-control-max-age', maxAgeS, 'vary', 'access-control-request-headers');
      }
      exchange.send(204, headers);
    },
    isAllowed({ headers: { origin, host } }) {
      return origin === undefined || isListed(origin) || (URL.canParse(origin) && new URL(origin).host === host);
    },
  };
}

/** Pages need them to log in again or to wait. */
const exposedHeaders = 'x-request-id, retry-after, www-authenticate';

/** The maximum in Chrome. */
const maxAgeS = '7200';
