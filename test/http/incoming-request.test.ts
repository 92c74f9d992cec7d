import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { type BodyReceiver, IncomingRequest } from '../../src/http/incoming-request.ts';
import { tConnection } from '../support/http/connection.ts';

/** Records the calls of a receiver, in order. */
function tReceiver(onChunk = () => {}) {
  const calls: string[] = [];
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const receiver: BodyReceiver = {
    onChunk(chunk) {
      calls.push(chunk.toString());
      onChunk();
    },
    onEnd() {
      calls.push('end');
      end();
    },
    onDisconnected() {
      calls.push('disconnected');
      end();
    },
  };
  return { ...receiver, calls, ended };
}

type Handle = (request: IncomingRequest, response: ServerResponse) => void;

/** A connection to a server with this handler. */
async function tServer(handle: Handle): Promise<Socket> {
  const server = createServer({ IncomingMessage: IncomingRequest }, handle).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return tConnection((server.address() as AddressInfo).port);
}

const head = (length: number) => `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n`;

it('passes a body on as it arrives, and then the next one of the same connection', async () => {
  const receivers: ReturnType<typeof tReceiver>[] = [];
  const socket = await tServer((request, response) => {
    const receiver = tReceiver(() => receiver.calls.length === 1 && socket.write('second'));
    receivers.push(receiver);
    request.receive(receiver);
    void receiver.ended.then(() => response.end('done'));
  });
  for (const index of [0, 1]) {
    socket.write(`${head(11)}first`);
    await once(socket, 'data');
    expect(receivers[index]?.calls).toEqual(['first', 'second', 'end']);
  }
});

it.each([
  ['the whole body', ['first']],
  ['a part of it', ['first', 'second']],
])('passes on what has arrived before there was a receiver: %s', async (_, [first = '', second = '']) => {
  let receiver = tReceiver();
  const socket = await tServer(async (request, response) => {
    while (request.readableLength < 5) await setImmediate();
    request.receive(receiver);
    socket.write(second);
    await receiver.ended;
    response.end('done');
  });
  for (let request = 0; request < 2; request += 1) {
    receiver = tReceiver();
    socket.write(head(first.length + second.length) + first);
    await once(socket, 'data');
    expect(receiver.calls).toEqual([first, second, 'end'].filter(Boolean));
  }
});

it.each([
  ['at once', null],
  ['after a part has arrived', setImmediate],
])('passes the rest of a body that is received %s on to another receiver', async (_, wait) => {
  const [first, rest] = [tReceiver(() => first.calls.length === 1 && replace()), tReceiver()] as const;
  let replace = () => {};
  const socket = await tServer(async (request, response) => {
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
  const receiver = tReceiver(() => socket.destroy());
  const socket = await tServer(async (request) => {
    if (wait) await wait();
    request.receive(receiver);
  });
  socket.write(`${head(11)}first`);
  await receiver.ended;
  expect(receiver.calls).toEqual(['first', 'disconnected']);
});

it.each([
  ['before its body has arrived', 'firs'],
  ['after its body has arrived', 'first'],
])('reports a client that has disconnected before there was a receiver, %s', async (_, body) => {
  const receiver = tReceiver();
  const socket = await tServer(async (request) => {
    while (!request.destroyed) await setImmediate();
    request.receive(receiver);
  });
  socket.end(head(5) + body);
  await receiver.ended;
  expect(receiver.calls).toEqual(['disconnected']);
});

it.each([
  ['the whole body', 'first', ''],
  ['a part of the body', 'fir', 'st'],
])('is released by its connection after a response to %s', async (_, first, rest) => {
  const requests: IncomingRequest[] = [];
  const socket = await tServer((request, response) => {
    requests.push(request);
    const receiver = tReceiver(() => response.end('done'));
    request.receive(receiver);
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
