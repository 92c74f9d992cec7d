import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { onTestFinished } from 'vitest';

export interface SlowProxy {
  port: number;
  /** What the server sends from now on arrives that much later. */
  setDelay(delayMs: number): void;
}

/** Forwards TCP connections to a port of the loopback interface, and delays what is sent back. */
export async function tSlowProxy(targetPort: number): Promise<SlowProxy> {
  let delayMs = 0;
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (client) => {
    const target = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    for (const [socket, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => {}).on('close', () => other.destroy());
    }
    client.pipe(target);
    let sending = Promise.resolve();
    target.on('data', (chunk) => {
      const delayed = pause(delayMs);
      sending = sending.then(() => delayed).then(() => void client.write(chunk));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    setDelay(ms) {
      delayMs = ms;
    },
  };
}
