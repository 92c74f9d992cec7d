import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createAbandonedReply } from '../../src/graphql/request/reply.ts';
import { createByteBudget } from '../../src/http/body.ts';
import { readAll, receive, tConnection, untilClosed } from '../support/http/connection.ts';
import { tListeningGateway } from '../support/http/listening-gateway.ts';
import { tRequestHandler } from '../support/http/request-handler.ts';

async function tBodyConnection() {
  const { origin } = await tListeningGateway();
  return tConnection(origin);
}

const head = (path: string, headers: string) =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`;

/** In chunks of this size. */
function chunked(text: string, size: number): string {
  const parts = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  return parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
}

const query = '{"query":"{ __typename }"}';
const answer = /\{"data":\{"__typename":"Query"\}\}/;

describe('a body in chunks', () => {
  it.each([
    ['of one byte', query.padEnd(4_900), 1],
    ['of 40 bytes', query.padEnd(240_000), 40],
  ])('%s is read', async (_, body, size) => {
    const socket = await tBodyConnection();
    socket.write(`${head('/graphql', 'transfer-encoding: chunked')}${chunked(body, size)}0\r\n\r\n`);
    expect(await receive(socket, answer)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([1, 10, 31])('of %i bytes is refused before it is complete, as reading it takes too long', async (size) => {
    const socket = await tBodyConnection();
    socket.write(`${head('/graphql', 'transfer-encoding: chunked')}${chunked(query.padEnd(5_001 * size), size)}`);
    const text = await receive(socket, /never/);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('The request body has too many small chunks; send larger ones, or a Content-Length.');
    expect(text).toMatch(/^connection: close\r$/im);
  });
});

describe('the body of a refused request', () => {
  it('is discarded, so that the connection can be used again', async () => {
    const socket = await tBodyConnection();
    socket.write(head('/unknown', 'content-length: 200000'));
    expect(await receive(socket, /\}\]\}/)).toMatch(/^HTTP\/1\.1 404 /);
    socket.write(`${' '.repeat(200_000)}${head('/graphql', `content-length: ${query.length}`)}${query}`);
    expect(await receive(socket, answer)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['has many small chunks', chunked(' '.repeat(5_100), 1)],
    ['has more than 1 MB', chunked(' '.repeat(1_100_000), 100_000)],
  ])('closes the connection if it %s', async (_, chunks) => {
    const socket = await tBodyConnection();
    socket.write(head('/unknown', 'transfer-encoding: chunked'));
    expect(await receive(socket, /\}\]\}/)).toMatch(/^HTTP\/1\.1 404 /);
    socket.write(chunks);
    await untilClosed(socket);
  });
});

it('a byte budget evicts no protected holder, but the new one instead', () => {
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

it('bodies over MAX_BUFFERED_BYTES are rejected with 503 if they are incomplete, the oldest first', async () => {
  const { origin, post } = await tListeningGateway({ MAX_BUFFERED_BYTES: '1000000' });
  const unfinished = await tConnection(origin, `${head('/graphql', 'content-length: 1000000')}{${' '.repeat(950_000)}`);
  const answer = readAll(unfinished);
  // Sent until the unfinished body has arrived.
  const query = `{ __typename } # ${'x'.repeat(90_000)}`;
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

it('responses that clients do not read are aborted over MAX_BUFFERED_BYTES, the oldest first', async () => {
  const body = 'x'.repeat(24_000_000);
  const answer = async () => ({ ...createAbandonedReply('application/json', null), status: 200, body });
  const origin = await tRequestHandler({ graphql: { answer } });
  const first = await tConnection(origin, get);
  await once(first, 'readable');
  const second = await tConnection(origin, get);
  expect((await readAll(second)).length).toBeGreaterThan(24_000_000);
  await untilClosed(first);
  expect(first.bytesRead).toBeLessThan(24_000_000);
});

const get = 'GET /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n';
