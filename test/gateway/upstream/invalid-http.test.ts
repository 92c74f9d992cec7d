import { expect, it } from 'vitest';
import { tTcpServer } from '../../support/free-port.ts';
import { tGateway } from '../../support/gateway.ts';

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
  ['100 Continue without end', 'HTTP/1.1 100 Continue\r\n\r\n', { isRepeated: true }],
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

it.each(['100 Continue', '102 Processing', '103 Early Hints'])('accepts a response after %s', async (status) => {
  const { url, requests } = await tServer(`HTTP/1.1 ${status}\r\n\r\n`.repeat(3) + final);
  const { ask } = tGateway({ bankDataUrl: url });
  expect(await ask(query)).toEqual({ data: { ibanValidation: { valid: true } } });
  expect(requests).toHaveLength(1);
});

it('accepts 100 Continue in a packet of its own, on a kept connection, and in a body', async () => {
  const body = '{"valid":true,"message":"HTTP/1.1 100 Continue\\r\\n"}';
  const head = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body.slice(0, 25)}`;
  const url = await tTcpServer((socket) => {
    socket.setNoDelay().on('data', () => {
      const parts = ['HTTP/1.1 100 Continue\r\n\r\n', head, body.slice(25)];
      const send = () => {
        const part = parts.shift();
        if (part !== undefined) socket.write(part, () => setImmediate(send));
      };
      send();
    });
  });
  const { ask } = tGateway({ bankDataUrl: url });
  expect(await ask(query)).toEqual({ data: { ibanValidation: { valid: true } } });
  const other = query.replace('DE89370400440532013000', 'DE75512108001245126199');
  expect(await ask(other)).toEqual({ data: { ibanValidation: { valid: true } } });
});

it.each(['HTTP/1.1 200 OK\r\ncontent-le', 'HTTP/1.1 100 Continue\r\n\r\n'])(
  'retries a connection that closes within the headers: %j',
  async (reply) => {
    const { url, requests } = await tServer(reply, { isClosed: true });
    const { ask } = tGateway({ bankDataUrl: url });
    expect((await ask(query)).errors).toMatchObject([{ extensions: { code: 'UPSTREAM_FAILED' } }]);
    expect(requests).toHaveLength(3);
  },
);
