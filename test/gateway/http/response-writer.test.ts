import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createResponseWriter, Exchange } from '../../../src/gateway/http/exchange.ts';
import { IncomingRequest } from '../../../src/gateway/http/incoming-request.ts';
import type { FinishedRequest } from '../../../src/gateway/telemetry/events.ts';
import { tSend } from '../../support/gateway/http/listening-gateway.ts';

type Write = ReturnType<typeof createResponseWriter>;

/** Sends this number of requests, and calls back with their exchanges once all were received. */
async function tExchanges(
  count: number,
  write: Write,
  onReceived: (exchanges: Exchange[]) => void,
  onFinished: (request: FinishedRequest) => void = () => {},
) {
  const exchanges: Exchange[] = [];
  const options = { write, onFinished, readRequestId: () => 'id', confirmCaller: async () => true };
  const server = createServer({ IncomingMessage: IncomingRequest }, (request, response) => {
    if (exchanges.push(new Exchange(request, response, options)) === count) onReceived(exchanges);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return Promise.allSettled(Array.from({ length: count }, () => tSend(url)));
}

it('reports a response that cannot be written, closes its connection, and writes the others of its turn', async () => {
  const faults: unknown[] = [];
  const onFault = (_: object, error: unknown) => void faults.push(error);
  const written: number[] = [];
  const write = createResponseWriter({ onUnread: () => {}, onFault });
  const send = ([first, second, third]: Exchange[]) => {
    first?.send(200, ['x-illegal', 'a\nb'], 'first');
    second?.send(200, ['x-illegal', 'a\nb'], 'second');
    third?.send(200, [], 'third');
  };
  const settled = await tExchanges(3, write, send, ({ status }) => written.push(status));
  expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(faults).toMatchObject([{ code: 'ERR_INVALID_CHAR' }, { code: 'ERR_INVALID_CHAR' }]);
  expect(written).toEqual([200]);
});

it('writes the responses of a turn together at its end', async () => {
  let written = 0;
  const onFinished = () => {
    written += 1;
  };
  const write = createResponseWriter({ onUnread() {}, onFault() {} });
  const counts: number[] = [];
  const send = (exchanges: Exchange[]) => {
    const sendTwo = () => {
      for (const exchange of exchanges.splice(0, 2)) {
        exchange.send(200, [], 'ok');
        counts.push(written);
      }
      setImmediate(() => counts.push(written));
    };
    sendTwo();
    // Again in a later turn.
    setImmediate(sendTwo);
  };
  const settled = await tExchanges(4, write, send, onFinished);
  expect(settled.map(({ status }) => status)).toEqual(Array(4).fill('fulfilled'));
  expect(counts).toEqual([0, 0, 2, 2, 2, 4]);
});
