/** Whether only this machine can reach a server on this host. IPv6 addresses with or without brackets. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || /^(::1|\[::1\]|127(\.\d{1,3}){3})$/.test(host);
}
