import type { IncomingMessage, ServerResponse } from 'node:http';

export interface Cors {
  /** Marks whatever will be answered as readable by the page that asks, if its origin may read it. */
  mark(request: IncomingMessage, response: ServerResponse): void;
  answerPreflight(request: IncomingMessage, response: ServerResponse): void;
  /** Whether no page asks, or one whose origin may read the answer. */
  isWelcome(request: IncomingMessage): boolean;
}

/** Cross-origin resource sharing, without cookies: https://fetch.spec.whatwg.org/#http-cors-protocol */
export function createCors(origins: readonly string[]): Cors {
  const mayRead = (origin: string) => origins.includes('*') || origins.includes(origin);
  return {
    mark({ headers: { origin } }, response) {
      if (origins.length > 0) response.appendHeader('vary', 'origin');
      if (origin === undefined || !mayRead(origin)) return;
      response.setHeader('access-control-allow-origin', origin);
      response.setHeader('access-control-expose-headers', 'x-request-id');
    },
    answerPreflight({ headers }, response) {
      if (response.hasHeader('access-control-allow-origin')) {
        const asked = headers['access-control-request-headers'];
        response.setHeader('access-control-allow-methods', 'GET, POST');
        // No cookie and no key of ours hangs on a header, so a page may send any.
        if (asked !== undefined) response.setHeader('access-control-allow-headers', asked);
        response.setHeader('access-control-max-age', maxAgeS);
        response.appendHeader('vary', 'access-control-request-headers');
      }
      // Safari waits for a body where no length is told.
      response.writeHead(204, { allow: 'GET, POST, OPTIONS', 'content-length': 0 }).end();
    },
    isWelcome({ headers: { origin, host } }) {
      return origin === undefined || mayRead(origin) || (URL.canParse(origin) && new URL(origin).host === host);
    },
  };
}

/** Chrome remembers a preflight for no longer than this. */
const maxAgeS = 7_200;
