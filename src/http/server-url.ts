import type { AddressInfo, Server } from 'node:net';

/** Of a server that listens on a port. */
export function urlOf(server: Pick<Server, 'address'>): string {
  const { address, family, port } = server.address() as AddressInfo;
  // All addresses of this machine, of which a container's cannot be reached from outside.
  if (address === '0.0.0.0' || address === '::') return `http://localhost:${port}`;
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}
