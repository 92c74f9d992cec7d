import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../src/config/read-config.ts';
import { createAbandonedReply } from '../../src/graphql/request/reply.ts';
import { createByteBudget } from '../../src/http/byte-budget.ts';
import { createGraphiql } from '../../src/http/graphiql.ts';
import { createRequestHandler } from '../../src/http/request-handler.ts';
import { createHttpServer } from '../../src/http/server.ts';
import { tAdmission } from '../support/caller.ts';
import { tListeningGateway } from '../support/http/listening-gateway.ts';

describe('a byte budget', () => {
  it('evicts the oldest holders until the rest fits', () => {
    const evicted: string[] = [];
    const budget = createByteBudget(100);
    const [a, b, c] = ['a', 'b', 'c'].map((name) => budget.hold(() => evicted.push(name)));
    a?.add(40);
    b?.add(40);
    c?.add(20);
    expect(evicted).toEqual([]);
    c?.add(40);
    expect(evicted).toEqual(['a']);
    b?.release();
    c?.add(30);
    expect(evicted).toEqual(['a']);
  });

  it('evicts no protected holder, but the new one instead', () => {
    const evicted: string[] = [];
    const budget = createByteBudget(100);
    const first = budget.hold(() => evicted.push('first'));
    first.add(90);
    first.protect();
    budget.hold(() => evicted.push('second')).add(20);
    expect(evicted).toEqual(['second']);
    first.release();
    budget.hold(() => evicted.push('third')).add(100);
    expect(evicted).toEqual(['second']);
  });
});

describe('bodies over MAX_BUFFERED_BYTES', () => {
  it('are rejected with 503 if they are incomplete, the oldest first', async () => {
    const { origin, post } = await tListeningGateway({ MAX_BODY_BYTES: '50000', MAX_BUFFERED_BYTES: '50000' });
    const head =
      'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 50000\r\n\r\n';
    const unfinished = await tConnection(origin, `${head}{${' '.repeat(40_000)}`);
    const answer = readAll(unfinished);
    // Sent until the unfinished body has arrived.
    const query = `{ __typename } # ${'x'.repeat(20_000)}`;
    do expect((await post({ query })).json()).toEqual({ data: { __typename: 'Query' } });
    while (!unfinished.closed);
    const text = await answer;
    expect(text).toMatch(/^HTTP\/1.1 503 /);
    expect(text).toMatch(/^retry-after: 1\r$/im);
    expect(JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)).errors[0]).toMatchObject({
      message: 'The gateway is receiving more bytes than MAX_BUFFERED_BYTES; retry in a second.',
      extensions: { code: 'OVERLOADED', retryable: true },
    });
  });
});

describe('responses that clients do not read', () => {
  it('are aborted over MAX_BUFFERED_BYTES, the oldest first', async () => {
    const { origin } = await tHandler('x'.repeat(24_000_000));
    const first = await tConnection(origin, get);
    await once(first, 'readable');
    const second = await tConnection(origin, get);
    expect((await readAll(second)).length).toBeGreaterThan(24_000_000);
    if (!first.closed) await new Promise((resolve) => first.resume().once('close', resolve));
    expect(first.bytesRead).toBeLessThan(24_000_000);
  });
});

const get = 'GET /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n';

/** A listening request handler that replies with this text to each GraphQL request. */
async function tHandler(body: string) {
  const listener = createRequestHandler({
    admission: tAdmission,
    isGraphiqlOpen: true,
    graphql: {
      answerPost: () => null,
      answerWithYoga: async () => ({ ...createAbandonedReply('application/json', null), status: 200, body }),
    },
    graphiql: createGraphiql({ clientTimeoutMs: 20_000 }),
    maxBodyBytes: 1_000,
    maxBufferedBytes: 30_000_000,
    corsOrigins: [],
    allowedHosts: [],
    isReady: () => true,
    readiness: () => ({}),
    events: { unexpectedError: (error) => expect.unreachable(String(error)), requestFinished: () => {} },
  });
  const server = createHttpServer(listener, readConfig({}).connections);
  onTestFinished(() => server.drain(0));
  return { origin: await server.listen('127.0.0.1', 0) };
}

async function tConnection(origin: string, text: string): Promise<Socket> {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return socket;
}

async function readAll(socket: Socket): Promise<string> {
  return Buffer.concat(await socket.toArray()).toString();
}
