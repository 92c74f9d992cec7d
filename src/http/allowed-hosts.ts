import type { IncomingMessage } from 'node:http';
import { isLoopback } from '../config/loopback.ts';

/** The host name in the Host header, as `URL` formats it; null if the header is malformed or repeated. */
export function readHostname({ headers: { host = 'localhost' }, rawHeaders }: IncomingMessage): string | null {
  // Node.js ignores further Host headers, but a proxy in front of the gateway may use the last (RFC 9112, 3.2).
  const count = rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === 'host').length;
  if (count > 1 || /[/\\?#@]/.test(host) || !URL.canParse(`http://${host}`)) return null;
  return new URL(`http://${host}`).hostname;
}

/**
 * Prevents DNS rebinding: an attacker's host name may resolve to 127.0.0.1. The attacker's page and the gateway then have
 * the same origin, so that CORS does not protect the gateway.
 * @param allowedHosts names in addition to those of the loopback interface; `*` for any
 */
export function isAllowedHost(hostname: string, allowedHosts: readonly string[]): boolean {
  return isLoopback(hostname) || allowedHosts.includes('*') || allowedHosts.includes(hostname);
}
