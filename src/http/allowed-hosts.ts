import { isLoopback } from '../config/loopback.ts';

/** The host name in a Host header, as `URL` formats it; null if the header is malformed. */
export function parseHostname(header = 'localhost'): string | null {
  if (/[/\\?#@]/.test(header) || !URL.canParse(`http://${header}`)) return null;
  return new URL(`http://${header}`).hostname;
}

/**
 * Prevents DNS rebinding: an attacker's host name may resolve to 127.0.0.1. The attacker's page and the gateway then have
 * the same origin, so that CORS does not protect the gateway.
 * @param allowedHosts names in addition to those of the loopback interface; `*` for any
 */
export function isAllowedHost(hostname: string, allowedHosts: readonly string[]): boolean {
  return isLoopback(hostname) || allowedHosts.includes('*') || allowedHosts.includes(hostname);
}
