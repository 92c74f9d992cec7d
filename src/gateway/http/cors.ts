import { type IncomingMessage, METHODS } from 'node:http';
import type { Events } from '../telemetry/events.ts';
import type { Exchange } from './exchange.ts';

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
export const graphqlMethods = ['GET', 'POST', 'QUERY'].filter((method) => METHODS.includes(method)).join(', ');

/** In the log: a host name has at most 253 characters. */
const maxOriginLength = 300;

/** Pages need them to log in again, to wait, or to say which bank lists a file was compared with. */
const exposedHeaders = 'x-request-id, retry-after, www-authenticate, outdated-bank-lists';

/** The maximum in Chrome. */
const maxAgeS = '7200';
