import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../config/loopback.ts';

/** What the Host header of a request allows. `malformed` also if it is repeated. */
export type HostCheck = 'allowed' | 'forbidden' | 'malformed';

/**
 * Prevents DNS rebinding: an attacker's host name may resolve to 127.0.0.1. The attacker's page and the gateway then have
 * the same origin, so that CORS does not protect the gateway.
 * @param allowedHosts names in addition to those of the loopback interface; `*` for any
 */
export function createHostCheck(allowedHosts: readonly string[]): (request: IncomingMessage) => HostCheck {
  let lastHost: string | undefined;
  let lastResult: HostCheck = 'malformed';

  return ({ headers: { host = 'localhost' }, rawHeaders }) => {
    if (countHosts(rawHeaders) > 1) return 'malformed';
    // Almost all requests have the same.
    if (host !== lastHost) {
      lastHost = host;
      lastResult = checkHost(host);
    }
    return lastResult;
  };

  function checkHost(host: string): HostCheck {
    if (/[/\\?#@]/.test(host) || !URL.canParse(`http://${host}`)) return 'malformed';
    const { hostname } = new URL(`http://${host}`);
    const isAllowed = isLoopback(hostname) || allowedHosts.includes('*') || allowedHosts.includes(hostname);
    return isAllowed ? 'allowed' : 'forbidden';
  }
}

/** Node.js ignores further Host headers, but a proxy in front of the gateway may use the last (RFC 9112, 3.2). */
function countHosts(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') count += 1;
  }
  return count;
}
