import { once } from 'node:events';
import type { Socket } from 'node:net';
import { expect, it, vi } from 'vitest';
import { createRecord, type Reply } from '../../../src/gateway/graphql/request/reply.ts';
import { chooseStreamFormat } from '../../../src/gateway/graphql/request/stream-formats.ts';
import type { Exchange } from '../../../src/gateway/http/exchange.ts';
import { tRequestHandler } from '../../support/gateway/http/request-handler.ts';
import { tConnection } from '../../support/loopback.ts';

const megabyte = 'x'.repeat(1_000_000);

/** A server of endless streams, whose results are megabytes. */
async function tStreams(options: Parameters<typeof tRequestHandler>[0] = {}) {
  const streams: { exchange: Exchange; results: number }[] = [];
  const answer = async (request: unknown): Promise<Reply> => {
    const stream = { exchange: request as Exchange, results: 0 };
    streams.push(stream);
    const format = chooseStreamFormat('text/event-stream');
    if (format === null) throw new Error('there is no such format');
    const results = (async function* () {
      for (;;) {
        stream.results += 1;
        yield megabyte;
      }
    })();
    const parts = { status: 200, headers: { vary: 'accept' }, mediaType: 'application/json', body: '' } as const;
    return { ...parts, record: createRecord(null), stream: { format, results } };
  };
  const origin = await tRequestHandler({ graphql: { answer }, ...options });

  return {
    streams,
    /** A client that has subscribed, and reads nothing. */
    async subscribe(): Promise<Socket> {
      const headers =
        'host: localhost\r\ncontent-type: application/json\r\naccept: text/event-stream\r\ncontent-length: 2';
      const socket = await tConnection(origin);
      socket.pause();
      const known = streams.length;
      socket.write(`POST /graphql HTTP/1.1\r\n${headers}\r\n\r\n{}`);
      await vi.waitUntil(() => streams.length > known);
      return socket;
    },
    /** Resolves when the server waits until the client of this stream reads. */
    async untilUnread(index: number): Promise<void> {
      const { exchange } = await vi.waitUntil(() => streams[index]);
      await vi.waitUntil(() => exchange.response.writableNeedDrain);
      // Other requests are answered meanwhile.
      for (let asked = 0; asked < 5; asked += 1) expect((await fetch(`${origin}/health`)).status).toBe(200);
    },
  };
}

it('requests the next result only when the client has read the last one, and leaves no listeners', async () => {
  const { subscribe, streams, untilUnread } = await tStreams();
  const socket = await subscribe();
  await untilUnread(0);
  const [stream] = streams;
  // What fits into the buffers of the system.
  expect(stream?.results).toBeLessThan(20);
  const countListeners = () =>
    ['close', 'drain', 'timeout', 'error'].map((event) => stream?.exchange.response.listenerCount(event) ?? 0);
  const listeners = countListeners();
  socket.resume();
  await vi.waitUntil(() => (stream?.results ?? 0) > 100, { timeout: 100_000 });
  for (const [index, count] of countListeners().entries()) expect(count).toBeLessThanOrEqual(listeners[index] ?? 0);
  socket.destroy();
});

it('counts what clients do not read in the limit for unread bytes, and closes the oldest connection beyond it', async () => {
  const { subscribe, streams, untilUnread } = await tStreams({ maxBufferedBytes: 2_500_000 });
  for (let client = 0; client < 2; client += 1) {
    await subscribe();
    await untilUnread(client);
  }
  const [first, second] = streams.map(({ exchange }) => exchange.response);
  expect(first?.destroyed).toBe(false);
  for (let client = 2; client < 4; client += 1) {
    await subscribe();
    await vi.waitUntil(() => streams[client]?.exchange.response.writableNeedDrain);
  }
  await vi.waitUntil(() => first?.destroyed);
  expect(streams.at(-1)?.exchange.response.destroyed).toBe(false);
  expect([first, second].filter((response) => response?.destroyed)).not.toHaveLength(0);
});

it('disconnects a client that reads nothing', async () => {
  const { subscribe, streams } = await tStreams({ streamLimits: { clientTimeoutMs: 50, heartbeatMs: 15_000 } });
  await subscribe();
  const response = streams[0]?.exchange.response;
  if (response && !response.closed) await once(response, 'close');
  expect(response?.destroyed).toBe(true);
});
