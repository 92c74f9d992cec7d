import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHttpServer } from '../../src/http/server.ts';

/** A server whose responses the test sends, and a client connection that stays open. */
async function tServer() {
  const requests = new EventEmitter();
  const server = createHttpServer((_, response) => void requests.emit('request', response));
  const port = Number(new URL(await server.listen('127.0.0.1', 0)).port);
  onTestFinished(() => server.drain(0));
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  onTestFinished(() => void socket.destroy());
  return {
    server,
    port,
    socket,
    /** Sends a request on the connection. @returns the server's response to it */
    async request(): Promise<ServerResponse> {
      socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n');
      const [response] = await once(requests, 'request');
      return response;
    },
  };
}

/** The text that the client receives next, up to a pattern. */
async function receive(socket: Socket, pattern: RegExp): Promise<string> {
  for (let text = ''; ; text += (await once(socket, 'data'))[0]) if (pattern.test(text)) return text;
}

describe('a server that is draining', () => {
  it('completes an active request, and closes its connection', async () => {
    const { server, socket, request } = await tServer();
    const response = await request();
    const drained = server.drain(60_000);
    const closed = once(socket, 'close');
    response.end('active');
    expect(await receive(socket, /active/)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\nconnection: close\r\n/i);
    await Promise.all([closed, drained]);
  });

  it('answers another request on an open connection, and closes the connection', async () => {
    const { server, socket, request } = await tServer();
    const first = await request();
    first.write('begun');
    expect(await receive(socket, /begun/)).not.toMatch(/\nconnection: close\r\n/i);
    const drained = server.drain(60_000);
    first.end('done');
    await receive(socket, /\r\n0\r\n\r\n/);
    const second = await request();
    const closed = once(socket, 'close');
    second.end('another');
    expect(await receive(socket, /another/)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\nconnection: close\r\n/i);
    await Promise.all([closed, drained]);
  });

  it('refuses new connections', async () => {
    const { server, port, request } = await tServer();
    const response = await request();
    const drained = server.drain(60_000);
    const [error] = await once(connect(port, '127.0.0.1'), 'error');
    expect(error).toMatchObject({ code: 'ECONNREFUSED' });
    response.end();
    await drained;
  });

  it('aborts requests that are active after the timeout', async () => {
    const { server, socket, request } = await tServer();
    await request();
    const closed = once(socket, 'close');
    await Promise.all([server.drain(0), closed]);
  });
});
