import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type BodyReceiver, IncomingRequest } from '../../src/http/incoming-request.ts';

/** Records the calls of a receiver, in order. */
class Recorder implements BodyReceiver {
  readonly calls: string[] = [];
  readonly ended: Promise<void>;
  #end = () => {};
  readonly #onChunk: () => void;

  constructor(onChunk = () => {}) {
    this.#onChunk = onChunk;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  onChunk(chunk: Buffer): void {
    this.calls.push(chunk.toString());
    this.#onChunk();
  }

  onEnd(): void {
    this.calls.push('end');
    this.#end();
  }

  onDisconnected(): void {
    this.calls.push('disconnected');
    this.#end();
  }
}

type Handle = (request: IncomingRequest, response: ServerResponse) => void;

/** A connection to a server with this handler. */
async function tConnection(handle: Handle): Promise<Socket> {
  const server = createServer({ IncomingMessage: IncomingRequest }, handle).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  onTestFinished(() => {
    socket.destroy();
    server.close();
  });
  await once(socket, 'connect');
  return socket;
}

const head = (length: number) => `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n`;

it('passes a body on as it arrives, and then the next one of the same connection', async () => {
  const recorders: Recorder[] = [];
  const socket = await tConnection((request, response) => {
    const recorder = new Recorder(() => recorder.calls.length === 1 && socket.write('second'));
    recorders.push(recorder);
    request.receive(recorder);
    void recorder.ended.then(() => response.end('done'));
  });
  for (const index of [0, 1]) {
    socket.write(`${head(11)}first`);
    await once(socket, 'data');
    expect(recorders[index]?.calls).toEqual(['first', 'second', 'end']);
  }
});

it.each([
  ['the whole body', ['first']],
  ['a part of it', ['first', 'second']],
])('passes on what has arrived before there was a receiver: %s', async (_, [first = '', second = '']) => {
  let recorder = new Recorder();
  const socket = await tConnection(async (request, response) => {
    while (request.readableLength < 5) await setImmediate();
    request.receive(recorder);
    socket.write(second);
    await recorder.ended;
    response.end('done');
  });
  for (let request = 0; request < 2; request += 1) {
    recorder = new Recorder();
    socket.write(head(first.length + second.length) + first);
    await once(socket, 'data');
    expect(recorder.calls).toEqual([first, second, 'end'].filter(Boolean));
  }
});

it.each([
  ['at once', null],
  ['after a part has arrived', setImmediate],
])('passes the rest of a body that is received %s on to another receiver', async (_, wait) => {
  const [first, rest] = [new Recorder(() => first.calls.length === 1 && replace()), new Recorder()] as const;
  let replace = () => {};
  const socket = await tConnection(async (request, response) => {
    replace = () => {
      request.receive(rest);
      socket.write('second');
    };
    if (wait) await wait();
    request.receive(first);
    await rest.ended;
    response.end('done');
  });
  socket.write(`${head(11)}first`);
  await once(socket, 'data');
  expect([first.calls, rest.calls]).toEqual([['first'], ['second', 'end']]);
});

it.each([
  ['at once', null],
  ['after a part has arrived', setImmediate],
])('reports that the client has disconnected in a body that is received %s', async (_, wait) => {
  const recorder = new Recorder(() => socket.destroy());
  const socket = await tConnection(async (request) => {
    if (wait) await wait();
    request.receive(recorder);
  });
  socket.write(`${head(11)}first`);
  await recorder.ended;
  expect(recorder.calls).toEqual(['first', 'disconnected']);
});

it.each([
  ['before its body has arrived', 'firs'],
  ['after its body has arrived', 'first'],
])('reports a client that has disconnected before there was a receiver, %s', async (_, body) => {
  const recorder = new Recorder();
  const socket = await tConnection(async (request) => {
    while (!request.destroyed) await setImmediate();
    request.receive(recorder);
  });
  socket.end(head(5) + body);
  await recorder.ended;
  expect(recorder.calls).toEqual(['disconnected']);
});

it.each([
  ['the whole body', 'first', ''],
  ['a part of the body', 'fir', 'st'],
])('is released by its connection after a response to %s', async (_, first, rest) => {
  const requests: IncomingRequest[] = [];
  const socket = await tConnection((request, response) => {
    requests.push(request);
    const recorder = new Recorder(() => response.end('done'));
    request.receive(recorder);
  });
  socket.write(head(5) + first);
  await once(socket, 'data');
  socket.write(rest);
  const [request] = requests;
  while (!request?.complete) await setImmediate();
  await setImmediate();
  const connection = request.socket as Socket & { parser?: { incoming: unknown } };
  expect(connection.parser?.incoming).toBeNull();
});
