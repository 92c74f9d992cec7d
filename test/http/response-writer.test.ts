import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { IncomingRequest } from '../../src/http/incoming-request.ts';
import { createResponseWriter } from '../../src/http/response-writer.ts';
import { tSend } from './listening-gateway.ts';

it('reports a response that cannot be written, closes its connection, and writes the others of its turn', async () => {
  const faults: unknown[] = [];
  const onFault = (_: object, error: unknown) => void faults.push(error);
  const written: number[] = [];
  const onWritten = (_: object, status: number) => void written.push(status);
  const write = createResponseWriter({ onUnread: () => {}, onFault, onWritten });
  const waiting: ServerResponse<IncomingRequest>[] = [];
  const server = createServer({ IncomingMessage: IncomingRequest }, (_, response) => {
    if (waiting.push(response) < 2) return;
    const [first, second] = waiting;
    if (first) write({ response: first, responseHeaders: ['x-illegal', 'a\nb'] }, 200, 'first');
    if (second) write({ response: second, responseHeaders: ['content-length', '6'] }, 200, 'second');
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const settled = await Promise.allSettled([tSend(url), tSend(url)]);
  expect(settled.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  expect(faults).toMatchObject([{ code: 'ERR_INVALID_CHAR' }]);
  expect(written).toEqual([200]);
});
