import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type BodyReceiver, IncomingRequest } from '../../src/http/incoming-request.ts';

/** What a receiver was told, one after the other. */
class Recorder implements BodyReceiver {
  readonly told: string[] = [];
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
    this.told.push(chunk.toString());
    this.#onChunk();
  }

  onEnd(): void {
    this.told.push('end');
    this.#end();
  }

  onDisconnected(): void {
    this.told.push('disconnected');
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
    const recorder = new Recorder(() => recorder.told.length === 1 && socket.write('second'));
    recorders.push(recorder);
    request.receive(recorder);
    void recorder.ended.then(() => response.end('done'));
  });
  for (const index of [0, 1]) {
    socket.write(`${head(11)}first`);
    await once(socket, 'data');
    expect(recorders[index]?.told).toEqual(['first', 'second', 'end']);
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
    expect(recorder.told).toEqual([first, second, 'end'].filter(Boolean));
  }
});

it.each([
  ['at once', null],
  ['after a part has arrived', setImmediate],
])('passes the rest of a body that is received %s on to another receiver', async (_, wait) => {
  const [first, rest] = [new Recorder(() => first.told.length === 1 && replace()), new Recorder()] as const;
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
  expect([first.told, rest.told]).toEqual([['first'], ['second', 'end']]);
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
  expect(recorder.told).toEqual(['first', 'disconnected']);
});

it('is released by its connection when it was answered', async () => {
  const requests: IncomingRequest[] = [];
  const socket = await tConnection((request, response) => {
    requests.push(request);
    request.receive({ onChunk() {}, onEnd: () => response.end('done'), onDisconnected() {} });
  });
  socket.write(`${head(5)}first`);
  await once(socket, 'data');
  await setImmediate();
  const connection = requests[0]?.socket as Socket & { parser?: { incoming: unknown } };
  expect(connection.parser?.incoming).toBeNull();
});
