import { EventEmitter, once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { IncomingRequest } from '../../../src/gateway/http/incoming-request.ts';
import { createHttpServer } from '../../../src/gateway/http/server.ts';
import { readAll, receive, tConnection, untilClosed } from '../../support/loopback.ts';

const get = 'GET / HTTP/1.1\r\nhost: localhost\r\n\r\n';
const limits = { maxConnections: 1_000, maxRequestsPerConnection: 10, clientTimeoutMs: 20_000 };

/** A server whose responses the test sends, and a client connection that stays open. */
async function tServer(options: Partial<typeof limits> = {}) {
  const requests = new EventEmitter();
  let handled = 0;
  const handle = (_: object, response: ServerResponse) => {
    handled += 1;
    requests.emit('request', response);
  };
  const server = createHttpServer(handle, { ...limits, ...options });
  const port = Number(new URL(await server.listen('127.0.0.1', 0)).port);
  onTestFinished(() => server.drain(0));
  const socket = await tConnection(port);
  const nextRequest = async (): Promise<ServerResponse<IncomingRequest>> => (await once(requests, 'request'))[0];
  return {
    server,
    port,
    socket,
    handled: () => handled,
    nextRequest,
    /** Sends a request on the connection. @returns the server's response to it */
    async request(): Promise<ServerResponse<IncomingRequest>> {
      socket.write(get);
      return nextRequest();
    },
  };
}

describe('a server that is draining', () => {
  it('completes an active request, and closes its connection', async () => {
    const { server, socket, request } = await tServer();
    const response = await request();
    const drained = server.drain(60_000);
    response.end('active');
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\nconnection: close\r\n/i);
    await drained;
  });

  it('answers another request on an open connection, and closes the connection', async () => {
    const { server, socket, request } = await tServer();
    const first = await request();
    first.write('begun');
    expect(await receive(socket, /begun/)).not.toMatch(/\nconnection: close\r\n/i);
    const drained = server.drain(60_000);
    first.end('done');
    await receive(socket, /\r\n0\r\n\r\n/);
    (await request()).end('another');
    expect(await readAll(socket)).toMatch(/^HTTP\/1\.1 200 [\s\S]*\nconnection: close\r\n[\s\S]*another/i);
    await drained;
  });
});

describe('a server that announced its stop', () => {
  it('serves new and open connections, and closes each after its response', async () => {
    const { server, port, socket, request, nextRequest } = await tServer();
    (await request()).end('first');
    await receive(socket, /first/);
    server.closeConnections();
    (await request()).end('second');
    await untilClosed(socket);
    const arrived = nextRequest();
    const newSocket = await tConnection(port, get);
    (await arrived).end('third');
    expect(await readAll(newSocket)).toMatch(/\nconnection: close\r\n[\s\S]*third/i);
  });

  it('closes the connection of a request that was being handled', async () => {
    const { server, socket, request } = await tServer();
    const response = await request();
    server.closeConnections();
    response.end('active');
    expect(await readAll(socket)).toMatch(/\nconnection: close\r\n[\s\S]*active/i);
  });

  it('answers all pipelined requests before it closes their connection', async () => {
    const { server, socket, nextRequest } = await tServer();
    const first = nextRequest();
    socket.write(get.repeat(2));
    const response = await first;
    const drained = server.drain(60_000);
    const received = receive(socket, /first[\s\S]*second/);
    const second = nextRequest();
    response.end('first');
    (await second).end('second');
    expect(await received).toMatch(/\nconnection: close\r\n[\s\S]*second/i);
    await drained;
  });
});

describe('a connection with pipelined requests', () => {
  it('is closed if there are too many, and all but the first are not handled', async () => {
    const { port, handled } = await tServer();
    await untilClosed(await tConnection(port, get.repeat(3_000)));
    expect(handled()).toBe(1);
  });

  it('has them handled one after the other', async () => {
    const { socket, handled, nextRequest } = await tServer();
    let next = nextRequest();
    socket.write(get.repeat(3));
    for (const [index, text] of ['first', 'second', 'third'].entries()) {
      const response = await next;
      expect(handled()).toBe(index + 1);
      next = nextRequest();
      const received = receive(socket, new RegExp(text));
      response.end(text);
      await received;
    }
  });
});

describe('the limit of connections', () => {
  it('closes the connection that has waited longest for a complete request', async () => {
    const { port, request, nextRequest, socket } = await tServer({ maxConnections: 3 });
    const executing = await request();
    const upload = nextRequest();
    const uploading = await tConnection(port, 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{');
    await upload;
    const idle = await tConnection(port);
    await tConnection(port);
    await untilClosed(uploading);
    await tConnection(port);
    await untilClosed(idle);
    executing.end('answer');
    await receive(socket, /answer/);
  });

  it('closes the connection of a client that reads a response', async () => {
    const { port, socket, request } = await tServer({ maxConnections: 1 });
    const response = await request();
    response.flushHeaders();
    await receive(socket, /200 OK/);
    const another = await tConnection(port);
    await untilClosed(socket);
    expect(another.closed).toBe(false);
  });

  it('closes an idle connection rather than one on which a response is being sent, such as a subscription', async () => {
    const { port, socket, request, nextRequest } = await tServer({ maxConnections: 2 });
    const response = await request();
    response.flushHeaders();
    await receive(socket, /200 OK/);
    const idle = await tConnection(port, get);
    (await nextRequest()).end('answer');
    await receive(idle, /answer/);
    await tConnection(port);
    await untilClosed(idle);
    response.end('event');
    await receive(socket, /event/);
  });

  it('closes the oldest request if requests are being executed on all connections, never the new one', async () => {
    const { port, request, nextRequest, socket } = await tServer({ maxConnections: 2 });
    await request();
    const arrived = nextRequest();
    const second = await tConnection(port, get);
    await arrived;
    const newest = await tConnection(port, get);
    (await nextRequest()).end('answer');
    await receive(newest, /answer/);
    await untilClosed(socket);
    expect(second.closed).toBe(false);
  });

  it('closes a connection of the caller with most of them, even if all others are idle', async () => {
    const { port, request, nextRequest, socket } = await tServer({ maxConnections: 4 });
    const answered = await request();
    answered.req.share?.assignTo('b');
    answered.end('answer');
    await receive(socket, /answer/);
    const waiting: Socket[] = [];
    for (let count = 0; count < 5; count += 1) {
      const arrived = nextRequest();
      waiting.push(await tConnection(port, get));
      (await arrived).req.share?.assignTo('a');
    }
    await Promise.all(waiting.slice(0, 2).map(untilClosed));
    expect(waiting.slice(2).map(({ closed }) => closed)).toEqual([false, false, false]);
    const health = await tConnection(port);
    await untilClosed(waiting[2] as Socket);
    expect([health.closed, socket.closed]).toEqual([false, false]);
    (await request()).end('again');
    await receive(socket, /again/);
  });
});

describe('a connection is closed after the client timeout', () => {
  // Long enough for a client to send its request, even if the machine is busy.
  const clientTimeoutMs = 500;

  it.each([
    ['sends nothing', ''],
    ['sends an incomplete header', 'GET / HTTP/1.1\r\nhost: loc'],
    ['sends an incomplete body', 'POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 9\r\n\r\n{'],
  ])('if the client %s', async (_, text) => {
    const { port } = await tServer({ clientTimeoutMs });
    const socket = await tConnection(port, text);
    expect(await readAll(socket)).toMatch(/^HTTP\/1.1 408 /);
  });

  it('if the client does not read the response', async () => {
    const { socket, request } = await tServer({ clientTimeoutMs });
    socket.pause();
    const response = await request();
    response.end(Buffer.alloc(50_000_000));
    await once(response, 'close');
    await untilClosed(socket);
    expect(socket.bytesRead).toBeLessThan(50_000_000);
  });

  it('but not while a request is being executed', async () => {
    const { port, socket, request } = await tServer({ clientTimeoutMs });
    const response = await request();
    const idle = await tConnection(port);
    await idle.toArray();
    response.end('answer');
    await receive(socket, /answer/);
  });
});
