import { isLoopback } from '../config/loopback.ts';

/**
 * Whether the gateway answers under this name. A page can have its own name resolve to 127.0.0.1 (DNS rebinding): the
 * browser then takes a gateway that only this machine can reach for the page's own origin, and no CORS rule applies.
 * @param hostname as `URL` has it
 * @param allowedHosts names besides those of the loopback interface; `*` for any
 */
export function isAllowedHost(hostname: string, allowedHosts: readonly string[]): boolean {
  return (
    isLoopback(hostname.replace(/^\[(.*)\]$/, '$1')) || allowedHosts.includes('*') || allowedHosts.includes(hostname)
  );
}
