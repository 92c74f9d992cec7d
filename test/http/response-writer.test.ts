import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { IncomingRequest } from '../../src/http/incoming-request.ts';
import { createResponseWriter } from '../../src/http/response-writer.ts';
import { tSend } from '../support/http/listening-gateway.ts';

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

function tAnswer(response: Response, responseHeaders: string[], body: string) {
  return { request: { response, responseHeaders }, status: 200, body, encoding: 'utf8' } as const;
}

it('reports a response that cannot be written, closes its connection, and writes the others of its turn', async () => {
  const faults: unknown[] = [];
  const onFault = (_: object, error: unknown) => void faults.push(error);
  const written: number[] = [];
  const onWritten = (_: object, status: number) => void written.push(status);
  const write = createResponseWriter({ onUnread: () => {}, onFault, onWritten, activeRequests: () => 3 });
  const settled = await tResponses(3, ([first, second, third]) => {
    if (first) write(tAnswer(first, ['x-illegal', 'a\nb'], 'first'));
    if (second) write(tAnswer(second, ['x-illegal', 'a\nb'], 'second'));
    if (third) write(tAnswer(third, ['content-length', '5'], 'third'));
  });
  expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(faults).toMatchObject([{ code: 'ERR_INVALID_CHAR' }, { code: 'ERR_INVALID_CHAR' }]);
  expect(written).toEqual([200]);
});

it.each([
  ['the responses of a turn together at its end, while there are other requests', 5, [0, 0, 2, 2, 2, 4, 5]],
  ['the first response of a turn at once, if there is no other request', 1, [1, 1, 2, 3, 3, 4, 5]],
])('writes %s', async (_, firstActive, expected) => {
  let written = 0;
  let activeRequests = firstActive;
  const onWritten = () => {
    written += 1;
    activeRequests = Math.max(1, activeRequests - 1);
  };
  const options = { onUnread: () => {}, onFault: () => {}, onWritten, activeRequests: () => activeRequests };
  const write = createResponseWriter(options);
  const counts: number[] = [];
  const settled = await tResponses(5, (responses) => {
    const send = () => {
      const response = responses.shift();
      if (response) write(tAnswer(response, ['content-length', '2'], 'ok'));
      counts.push(written);
    };
    send();
    send();
    setImmediate(() => {
      counts.push(written);
      send();
      send();
      setImmediate(() => {
        counts.push(written);
        send();
      });
    });
  });
  expect(settled.map(({ status }) => status)).toEqual(Array(5).fill('fulfilled'));
  expect(counts).toEqual(expected);
});
