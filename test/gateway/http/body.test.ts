import { once } from 'node:events';
import type { Socket } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { Caller } from '../../../src/gateway/callers/caller.ts';
import { createAbandonedReply } from '../../../src/gateway/graphql/request/reply.ts';
import { keyOf, paths, sha256, tAccess, tCaller } from '../../support/gateway/callers.ts';
import { tListeningGateway } from '../../support/gateway/http/listening-gateway.ts';
import { tRequestHandler } from '../../support/gateway/http/request-handler.ts';
import { readAll, receive, tConnection, untilClosed } from '../../support/loopback.ts';

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

const ofKnownLength = 'content-length: 20000000';
const callers = { GATEWAY_API_KEYS: `shop:${sha256(keyOf('shop'))}:bank-data`, ANONYMOUS_SCOPES: 'bank-data' };
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

  it.each(paths.flatMap((path) => [1, 10, 31].map((size) => [size, path] as const)))(
    'of %i bytes is refused before it is complete, as reading it takes too long (%s)',
    async (size, path) => {
      const socket = await tBodyConnection();
      socket.write(`${head(path, 'transfer-encoding: chunked')}${chunked(query.padEnd(5_001 * size), size)}`);
      const text = await receive(socket, /never/);
      expect(text).toMatch(/^HTTP\/1\.1 400 /);
      expect(text).toContain('The request body has too many small chunks; send larger ones, or a Content-Length.');
      expect(text).toMatch(/^connection: close\r$/im);
    },
  );
});

describe('the body of a refused request', () => {
  it('is discarded, so that the connection can be used again', async () => {
    const socket = await tBodyConnection();
    socket.write(head('/unknown', 'content-length: 200000'));
    expect(await receive(socket, /\}\]\}/)).toMatch(/^HTTP\/1\.1 404 /);
    socket.write(`${' '.repeat(200_000)}${head('/graphql', `content-length: ${query.length}`)}${query}`);
    expect(await receive(socket, answer)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('closes the connection if it has many small chunks', async () => {
    const socket = await tBodyConnection();
    socket.write(head('/unknown', 'transfer-encoding: chunked'));
    expect(await receive(socket, /\}\]\}/)).toMatch(/^HTTP\/1\.1 404 /);
    socket.write(chunked(' '.repeat(5_100), 1));
    await untilClosed(socket);
  });

  it('closes the connection if it has more than 100 MB', async () => {
    const socket = await tBodyConnection();
    socket.write(head('/unknown', 'content-length: 200000000'));
    for (let megabytes = 0; megabytes < 101; megabytes += 1) socket.write(Buffer.alloc(1_000_000));
    await untilClosed(socket);
    expect(socket.bytesRead).toBeGreaterThan(0);
  });

  it.each(
    paths.flatMap((path) => [
      [401, path, `authorization: Bearer unknown\r\n${ofKnownLength}`],
      [413, path, ofKnownLength],
      [413, path, 'transfer-encoding: chunked'],
    ]),
  )('is read, so that a client that sends it all before it reads gets the status %i (%s, %j)', async (...row) => {
    const [status, path, headers] = row as [number, string, string];
    const { origin } = await tListeningGateway(callers);
    const socket = await tConnection(origin, head(path, headers));
    const text = ' '.repeat(20_000_000);
    const body = headers.includes('chunked') ? `${chunked(text, 1_000_000)}0\r\n\r\n` : text;
    const error = await new Promise((resolve) => socket.write(body, resolve));
    expect([error ?? null, await receive(socket, /\}\]\}/)]).toEqual([
      null,
      expect.stringMatching(new RegExp(`^HTTP/1.1 ${status} `)),
    ]);
  });
});

it('bodies over MAX_BUFFERED_BYTES are rejected with 503 if they are incomplete, the oldest first', async () => {
  const { origin, post } = await tListeningGateway({ MAX_BUFFERED_BYTES: '1000000' });
  const unfinished = await tConnection(origin, `${head('/graphql', 'content-length: 1000000')}{${' '.repeat(950_000)}`);
  const answer = receive(unfinished, /\}\]\}/);
  // Sent until the unfinished body has arrived.
  const query = `{ __typename } # ${'x'.repeat(90_000)}`;
  do expect((await post({ query })).json()).toEqual({ data: { __typename: 'Query' } });
  while (unfinished.bytesRead === 0);
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

describe('beside a caller who holds most of MAX_BUFFERED_BYTES', () => {
  /** A handler whose callers are `a`, who is answered with 11 MB, and `b`. */
  const tTwoCallers = () => {
    const received: string[] = [];
    const answer = async ({ body }: { body: string }, { id }: Caller) => {
      received.push(`${id}: ${body.length} bytes`);
      if (body.includes('wait')) await new Promise(() => {});
      const text = id === 'a' ? 'x'.repeat(11_000_000) : 'answer for b';
      return { ...createAbandonedReply('application/json', null), status: 200, body: text };
    };
    const callerOf = (rawHeaders: readonly string[]): Caller => {
      const id = rawHeaders[rawHeaders.indexOf('x-caller') + 1] ?? '';
      return { ...tCaller, kind: 'api-key', id };
    };
    const access = { ...tAccess, identifyAndCount: callerOf };
    const limits = { maxBodyBytes: 10_000_000, maxBufferedBytes: 30_000_000 };
    return { received, origin: tRequestHandler({ access, graphql: { answer }, ...limits }) };
  };
  const postAs = (caller: string, bytes: number) => head('/graphql', `x-caller: ${caller}\r\ncontent-length: ${bytes}`);

  it('in answers that are not read, the slow upload of another is answered', async () => {
    const { received, origin } = tTwoCallers();
    const upload = await tConnection(await origin, `${postAs('b', 1_000_000)}{${' '.repeat(500_000)}`);
    const unread: Socket[] = [];
    for (let count = 0; count < 6; count += 1) {
      const socket = await tConnection(await origin, `${postAs('a', 2)}{}`);
      unread.push(socket.pause());
      await vi.waitUntil(() => received.length > count, { timeout: 100_000 });
    }
    upload.write(' '.repeat(499_999));
    expect(await receive(upload, /answer for b/)).toMatch(/^HTTP\/1\.1 200 /);
    expect(received.at(-1)).toBe('b: 1000000 bytes');
    // Two answers of 11 MB fit.
    await Promise.all(unread.slice(0, 4).map(untilClosed));
    expect(unread.slice(4).map(({ closed }) => closed)).toEqual([false, false]);
  });

  it('in bodies of requests that are executed, the upload of another is answered', async () => {
    const { received, origin } = tTwoCallers();
    const executed: Socket[] = [];
    for (let count = 0; count < 3; count += 1) {
      executed.push(await tConnection(await origin, `${postAs('a', 9_000_000)}{"wait":${' '.repeat(8_999_991)}}`));
      await vi.waitUntil(() => received.length > count, { timeout: 100_000 });
    }
    const upload = await tConnection(await origin, `${postAs('b', 5_000_000)}{}${' '.repeat(4_999_998)}`);
    expect(await receive(upload, /answer for b/)).toMatch(/^HTTP\/1\.1 200 /);
    await untilClosed(executed[0] as Socket);
    expect(executed.slice(1).map(({ closed }) => closed)).toEqual([false, false]);
  });
});

const get = 'GET /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n';
