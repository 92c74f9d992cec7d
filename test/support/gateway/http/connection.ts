import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A connection to a server on this machine, by its port or origin, on which the text was sent. */
export async function tConnection(server: number | string, text = ''): Promise<Socket> {
  const port = typeof server === 'number' ? server : Number(new URL(server).port);
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

/** What the server sends next, up to a pattern or until it closes the connection. */
export async function receive(socket: Socket, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const data of socket.iterator({ destroyOnReturn: false })) {
    text += data;
    if (pattern.test(text)) break;
  }
  return text;
}

export async function readAll(socket: Socket): Promise<string> {
  return Buffer.concat(await socket.toArray()).toString();
}

export async function untilClosed(socket: Socket): Promise<void> {
  if (!socket.closed) await new Promise((resolve) => socket.resume().once('close', resolve));
}
