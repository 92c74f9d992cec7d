import { isLoopback } from '../config/loopback.ts';

/** The host name in a Host header, as `URL` formats it; null if the header is malformed. */
export function parseHostname(header = 'localhost'): string | null {
  if (/[/\\?#@]/.test(header) || !URL.canParse(`http://${header}`)) return null;
  return new URL(`http://${header}`).hostname;
}

/**
 * Prevents DNS rebinding: a page whose own host name resolves to 127.0.0.1 would be of the same origin as a gateway that
 * only this machine can reach, so that no CORS rule applied.
 * @param allowedHosts names in addition to those of the loopback interface; `*` for any
 */
export function isAllowedHost(hostname: string, allowedHosts: readonly string[]): boolean {
  return isLoopback(hostname) || allowedHosts.includes('*') || allowedHosts.includes(hostname);
}
