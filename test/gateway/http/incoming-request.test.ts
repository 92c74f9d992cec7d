import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type BodyReceiver, endAfterBody, IncomingRequest } from '../../../src/gateway/http/incoming-request.ts';
import { tConnection, untilClosed } from '../../support/loopback.ts';
import { tGate } from '../../support/turns.ts';

/** Records the calls of a receiver, in order. */
function tReceiver(onFirst = () => {}) {
  const calls: string[] = [];
  const gate = tGate();
  const end = (name: string) => {
    calls.push(name);
    gate.open();
  };
  const receiver: BodyReceiver = {
    onChunk: (chunk) => calls.push(chunk.toString()) === 1 && onFirst(),
    onEnd: () => end('end'),
    onDisconnected: () => end('disconnected'),
  };
  return { ...receiver, calls, ended: gate.opened };
}

type Handle = (request: IncomingRequest, response: ServerResponse<IncomingRequest>) => void;

/** A connection to a server with this handler. */
async function tServer(handle: Handle): Promise<Socket> {
  const server = createServer({ IncomingMessage: IncomingRequest }, handle).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return tConnection((server.address() as AddressInfo).port);
}

const head = (length: number) => `POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: ${length}\r\n\r\n`;

it.each([
  ['as it arrives', false, ['first', 'second']],
  ['that has arrived before there was a receiver', true, ['first']],
  ['of which a part has arrived before there was a receiver', true, ['first', 'second']],
])('passes a body on %s, and then the next one of the same connection', async (_, waits, parts) => {
  const [first = '', second = ''] = parts;
  let receiver = tReceiver();
  const socket = await tServer(async (request, response) => {
    while (waits && request.readableLength < 5) await setImmediate();
    request.receive(receiver);
    await receiver.ended;
    response.end('done');
  });
  for (let request = 0; request < 2; request += 1) {
    receiver = tReceiver(() => socket.write(second));
    socket.write(head(parts.join('').length) + first);
    await once(socket, 'data');
    expect(receiver.calls).toEqual([...parts, 'end']);
  }
});

describe.each([
  ['at once', null],
  ['after a part has arrived', setImmediate],
])('a body that is received %s', (_, wait) => {
  it('is passed on to another receiver from then on', async () => {
    let replace = () => {};
    const [first, rest] = [tReceiver(() => replace()), tReceiver()];
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

  it('ends with a report that the client has disconnected', async () => {
    const receiver = tReceiver(() => socket.destroy());
    const socket = await tServer(async (request) => {
      if (wait) await wait();
      request.receive(receiver);
    });
    socket.write(`${head(11)}first`);
    await receiver.ended;
    expect(receiver.calls).toEqual(['first', 'disconnected']);
  });
});

it('is not read any longer, and its connection is closed, if the rest of a refused body takes more than 30 s', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const socket = await tServer((_, response) => {
    response.writeHead(401, { 'content-length': 0 });
    endAfterBody(response);
  });
  socket.write(`${head(5)}fir`);
  await once(socket, 'data');
  vi.advanceTimersByTime(29_999);
  await setImmediate();
  expect(socket.closed).toBe(false);
  vi.advanceTimersByTime(1);
  await untilClosed(socket);
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
    request.receive(tReceiver(() => response.end('done')));
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
