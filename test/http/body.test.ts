import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { tListeningGateway } from '../support/http/listening-gateway.ts';

async function tConnection() {
  const { origin } = await tListeningGateway({ MAX_BODY_BYTES: '500000' });
  const socket = connect(Number(new URL(origin).port), '127.0.0.1').on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const head = (path: string, headers: string) =>
  `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${headers}\r\n\r\n`;

/** In chunks of this size. */
function chunked(text: string, size: number): string {
  const parts = text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [];
  return parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
}

/** What the server sends up to a pattern, or until it closes the connection. */
async function receive(socket: Socket, pattern: RegExp): Promise<string> {
  let text = '';
  for await (const data of socket.iterator({ destroyOnReturn: false })) {
    text += data;
    if (pattern.test(text)) break;
  }
  return text;
}

const query = '{"query":"{ __typename }"}';
const answer = /\{"data":\{"__typename":"Query"\}\}/;

describe('a body in chunks', () => {
  it.each([
    ['of one byte', query.padEnd(4_900), 1],
    ['of 40 bytes', query.padEnd(240_000), 40],
  ])('%s is read', async (_, body, size) => {
    const socket = await tConnection();
    socket.write(`${head('/graphql', 'transfer-encoding: chunked')}${chunked(body, size)}0\r\n\r\n`);
    expect(await receive(socket, answer)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([1, 10, 31])('of %i bytes is refused before it is complete, as reading it takes too long', async (size) => {
    const socket = await tConnection();
    socket.write(`${head('/graphql', 'transfer-encoding: chunked')}${chunked(query.padEnd(5_001 * size), size)}`);
    const text = await receive(socket, /never/);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('The request body has too many small chunks; send larger ones, or a Content-Length.');
    expect(text).toMatch(/^connection: close\r$/im);
  });
});

describe('the body of a refused request', () => {
  it('is discarded, so that the connection can be used again', async () => {
    const socket = await tConnection();
    socket.write(head('/unknown', 'content-length: 200000'));
    expect(await receive(socket, /\}\]\}/)).toMatch(/^HTTP\/1\.1 404 /);
    socket.write(`${' '.repeat(200_000)}${head('/graphql', `content-length: ${query.length}`)}${query}`);
    expect(await receive(socket, answer)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it.each([
    ['has many small chunks', chunked(' '.repeat(5_100), 1)],
    ['has more than 1 MB', chunked(' '.repeat(1_100_000), 100_000)],
  ])('closes the connection if it %s', async (_, chunks) => {
    const socket = await tConnection();
    socket.write(head('/unknown', 'transfer-encoding: chunked'));
    expect(await receive(socket, /\}\]\}/)).toMatch(/^HTTP\/1\.1 404 /);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.write(chunks);
    socket.resume();
    await closed;
  });
});
