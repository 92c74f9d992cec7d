import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { type Gate, tGate } from './gate.ts';

export interface TcpProxy {
  port: number;
  /** Closes all connections, and refuses new ones. */
  stop(): Promise<void>;
  /** Listens on the same port again. */
  restart(): Promise<void>;
  /** Accepts connections, and forwards nothing until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** What the server sends from now on arrives that much later. */
  setDelay(delayMs: number): void;
}

/** Forwards TCP connections to a port of the loopback interface: for its clients, that server is slow, silent or down when a test says so. */
export async function tTcpProxy(targetPort: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let frozen: Gate | null = null;
  let delayMs = 0;

  const server = createServer({ noDelay: true }, (client) => {
    const target = connect({ port: targetPort, host: '127.0.0.1', noDelay: true });
    forward(client, target, () => 0);
    forward(target, client, () => delayMs);
  });

  function forward(from: Socket, to: Socket, delay: () => number): void {
    sockets.add(from);
    let sending = Promise.resolve();
    const afterwards = (send: () => void) => {
      const delayed = delay() > 0 ? pause(delay()) : null;
      sending = sending
        .then(() => delayed)
        .then(() => frozen?.opened)
        .then(send);
    };
    from.on('data', (chunk) => afterwards(() => void to.write(chunk)));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      afterwards(() => void to.end());
    });
  }

  async function listen(port: number): Promise<void> {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  }

  function thaw(): void {
    frozen?.open();
    frozen = null;
  }

  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    async stop() {
      // What was not forwarded is lost.
      frozen = null;
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    restart: () => listen(port),
    freeze() {
      frozen ??= tGate();
    },
    thaw,
    setDelay(ms) {
      delayMs = ms;
    },
  };
}
