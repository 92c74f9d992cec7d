import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { IncomingRequest } from '../../src/http/incoming-request.ts';
import { createResponseWriter } from '../../src/http/response-writer.ts';
import { tSend } from './listening-gateway.ts';

type Response = ServerResponse<IncomingRequest>;

/** Sends this number of requests, and calls back with their responses once it has received all. */
async function tResponses(count: number, onReceived: (responses: Response[]) => void) {
  const responses: Response[] = [];
  const server = createServer({ IncomingMessage: IncomingRequest }, (_, response) => {
    if (responses.push(response) === count) onReceived(responses);
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
  const onWritten = (_: object, status: number) => void written.push(status);
  const write = createResponseWriter({ onUnread: () => {}, onFault, onWritten });
  const settled = await tResponses(3, ([first, second, third]) => {
    if (first) write({ response: first, responseHeaders: ['x-illegal', 'a\nb'] }, 200, 'first');
    if (second) write({ response: second, responseHeaders: ['x-illegal', 'a\nb'] }, 200, 'second');
    if (third) write({ response: third, responseHeaders: ['content-length', '5'] }, 200, 'third');
  });
  expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(faults).toMatchObject([{ code: 'ERR_INVALID_CHAR' }, { code: 'ERR_INVALID_CHAR' }]);
  expect(written).toEqual([200]);
});

it('writes the first response of a turn at once, and the others at its end', async () => {
  let written = 0;
  const onWritten = () => {
    written += 1;
  };
  const write = createResponseWriter({ onUnread: () => {}, onFault: () => {}, onWritten });
  const counts: number[] = [];
  const settled = await tResponses(5, (responses) => {
    const send = () => {
      const response = responses.shift();
      if (response) write({ response, responseHeaders: ['content-length', '2'] }, 200, 'ok');
      counts.push(written);
    };
    for (let count = 0; count < 3; count += 1) send();
    setImmediate(() => {
      counts.push(written);
      send();
      send();
    });
  });
  expect(settled.map(({ status }) => status)).toEqual(Array(5).fill('fulfilled'));
  expect(counts).toEqual([1, 1, 1, 3, 4, 4]);
  expect(written).toBe(5);
});
