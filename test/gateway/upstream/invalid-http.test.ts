import { expect, it } from 'vitest';
import { tGateway } from '../../support/gateway.ts';
import { tTcpServer } from '../../support/loopback.ts';

/** A TCP server that sends these bytes after each request. */
async function tServer(reply: string, { isClosed = false, isRepeated = false } = {}) {
  const requests: string[] = [];
  const url = await tTcpServer((socket) => {
    const send = () => {
      while (!socket.destroyed && socket.write(reply) && isRepeated);
      if (isRepeated) socket.once('drain', send);
    };
    socket.on('error', () => {});
    socket.on('data', (request) => {
      requests.push(String(request));
      if (isClosed) socket.end(reply);
      else send();
    });
  });
  return { url, requests };
}

const query = '{ ibanValidation(iban: "DE89370400440532013000") { valid } }';
const final = 'HTTP/1.1 200 OK\r\ncontent-length: 14\r\n\r\n{"valid":true}';
const failure = {
  message: 'The bank-data service returned a response that is not valid HTTP.',
  extensions: { code: 'UPSTREAM_FAILED', retryable: true },
};

it.each([
  // Only a request with `Expect: 100-continue` is answered with it.
  ['100 Continue', `HTTP/1.1 100 Continue\r\n\r\n${final}`, {}],
  ['102 without end', 'HTTP/1.1 102 Processing\r\n\r\n', { isRepeated: true }],
  ['101', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n', {}],
  ['103 without end', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', { isRepeated: true }],
  ['no HTTP', 'hello\r\n\r\n', {}],
  ['a length that is no number', 'HTTP/1.1 200 OK\r\ncontent-length: abc\r\n\r\n{}', {}],
  ['two lengths', 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}', {}],
  ['large headers', `HTTP/1.1 200 OK\r\nx: ${'a'.repeat(100_000)}\r\n\r\n{}`, {}],
])('calls once an upstream that answers with %s', async (_, reply, options) => {
  const { url, requests } = await tServer(reply, options);
  const { ask } = tGateway({ bankDataUrl: url });
  expect((await ask(query)).errors).toMatchObject([failure]);
  expect(requests).toHaveLength(1);
});

it.each(['102 Processing', '103 Early Hints'])('accepts a response after %s', async (status) => {
  const { url, requests } = await tServer(`HTTP/1.1 ${status}\r\n\r\n`.repeat(3) + final);
  const { ask } = tGateway({ bankDataUrl: url });
  expect(await ask(query)).toEqual({ data: { ibanValidation: { valid: true } } });
  expect(requests).toHaveLength(1);
});

it('retries a connection that closes within the headers', async () => {
  const { url, requests } = await tServer('HTTP/1.1 200 OK\r\ncontent-le', { isClosed: true });
  const { ask } = tGateway({ bankDataUrl: url });
  expect((await ask(query)).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_FAILED' } }]);
  expect(requests).toHaveLength(3);
});
