import { once } from 'node:events';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { tRequestContext } from '../../support/gateway/callers.ts';
import { get, post, tHttpClient } from '../../support/gateway/upstream/send.ts';
import { createCertificate, trust, tTcpServer } from '../../support/loopback.ts';
import {
  type Reply,
  replyHeld,
  replyJson,
  replyText,
  replyTruncated,
  tUpstream,
} from '../../support/scripted-upstream.ts';

describe('a call', () => {
  it('returns status, rate limit, Retry-After and body of any response', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21') });
    const headers = { 'retry-after': 'Tue, 01 Dec 2026 00:00:00 GMT', 'X-RateLimit-Remaining-Month': '7' };
    const upstream = await tUpstream(replyJson(418, { tea: true }, headers));
    const outcome = await tHttpClient(upstream.url).send();
    expect(outcome).toMatchObject({ kind: 'answered', status: 418, text: '{"tea":true}', json: { tea: true } });
    expect(outcome).toMatchObject({ retryAt: new Date('2026-12-01T00:00:00Z') });
    expect(outcome).toHaveProperty('headers.remainingMonth', '7');
  });

  it('puts paths below the base URL', async () => {
    const upstream = await tUpstream();
    await tHttpClient(`${upstream.url}/base/v2/`).send({ ...get, writeQuery: () => 'q=a%20b' });
    expect(upstream.calls[0]?.path).toBe('/base/v2/thing');
    expect(Object.fromEntries(upstream.calls[0]?.query ?? [])).toEqual({ q: 'a b' });
  });

  it('does not follow a redirect: the key belongs to one origin', async () => {
    const elsewhere = await tUpstream();
    const upstream = await tUpstream(replyText(302, '', { location: elsewhere.url }));
    expect(await tHttpClient(upstream.url).send()).toMatchObject({ kind: 'answered', status: 302 });
    expect(elsewhere.calls).toHaveLength(0);
  });

  it.each<[string, (string | number[] | Buffer)[], object]>([
    ['decodes characters that arrive in several chunks', ['"K', [0xc3], [0xb6, 0x22]], { text: '"Kö"', json: 'Kö' }],
    ['removes a byte order mark', [[0xef, 0xbb, 0xbf], '"K"'], { text: '"K"', json: 'K' }],
    ['replaces what is not UTF-8', ['"KöKö', [0xe2, 0x82, 0x22]], { text: '"KöKö\ufffd"', json: 'KöKö\ufffd' }],
    ['reads Latin-1', [Buffer.from('"Köln, Füller"', 'latin1')], { text: '"Köln, Füller"', json: 'Köln, Füller' }],
    ['returns a body that is not JSON as text', ['plain'], { kind: 'answered', text: 'plain', json: undefined }],
  ])('%s', async (_, chunks, outcome) => {
    const upstream = await tUpstream(async (response) => {
      for (const chunk of chunks) await new Promise((resolve) => response.write(Buffer.from(chunk as string), resolve));
      response.end();
    });
    expect(await tHttpClient(upstream.url).send()).toMatchObject(outcome);
  });

  it('accepts a response of exactly the largest size, and not one byte more', async () => {
    const upstream = await tUpstream(replyText(200, 'x'.repeat(1_024)));
    const { send } = tHttpClient(upstream.url, { maxResponseBytes: 1_024 });
    expect(await send()).toMatchObject({ kind: 'answered' });
    upstream.answers(replyText(200, 'x'.repeat(1_025)));
    expect(await send()).toEqual({ kind: 'failed', reason: 'too-large', text: 'x'.repeat(1_024) });
    // The part of a response that was not successful is discarded.
    upstream.answers(replyText(500, 'x'.repeat(2_000)));
    expect(await send()).toEqual({ kind: 'failed', reason: 'too-large', text: '' });
  });

  it('reuses a connection for reads, and has a new one for each write, which is closed afterwards', async () => {
    const ports: (number | undefined)[] = [];
    const upstream = await tUpstream((response, call) => {
      ports.push(response.socket?.remotePort);
      return replyJson(200, {})(response, call);
    });
    const { send } = tHttpClient(upstream.url);
    for (let round = 0; round < 5; round += 1) await send();
    expect(new Set(ports).size).toBeLessThan(3);
    for (let round = 0; round < 3; round += 1) expect(await send(post)).toMatchObject({ status: 200 });
    expect(new Set(ports.slice(5)).size).toBe(3);
    expect(upstream.calls.slice(5)).toMatchObject(Array(3).fill({ headers: { connection: 'close' } }));
  });

  it('does not take a late response to another call for the answer, and closes a connection with such a response', async () => {
    const { send } = tHttpClient(await tLateResponses(), { maxConcurrency: 1 });
    const write = (name: string) => send({ ...post, path: `/${name}` });
    expect([await write('a'), await write('b'), await write('c')]).toMatchObject([
      { json: { path: '/a' } },
      { json: { path: '/b' } },
      { json: { path: '/c' } },
    ]);
    const isAbout = (path: string) => (json: unknown) => (json as { path: string }).path === path;
    const read = (name: string) => send({ ...get, path: `/${name}`, isAbout: isAbout(`/${name}`) });
    expect([await read('d'), await read('e'), await read('f'), await read('g')]).toMatchObject([
      { json: { path: '/d' } },
      { kind: 'failed', reason: 'mismatched', text: '' },
      { json: { path: '/f' } },
      { kind: 'failed', reason: 'mismatched', text: '' },
    ]);
  });

  it.each<[string, Reply]>([
    ['was interrupted', replyTruncated('{')],
    ['is too large', replyText(200, 'x'.repeat(2_000))],
  ])('connects again after a response that %s', async (_, reply) => {
    const upstream = await tUpstream(reply);
    const { send } = tHttpClient(upstream.url, { maxResponseBytes: 1_000 });
    for (let call = 0; call < 3; call += 1) {
      expect(await Promise.all([send(), send()])).toMatchObject(Array(2).fill({ kind: 'failed' }));
    }
    upstream.answers(replyJson(200, {}));
    expect(await Promise.all([send(), send()])).toMatchObject(Array(2).fill({ status: 200 }));
  });

  it('does not wait for the connection of a call that was sent and given up', async () => {
    const { reply, release } = replyHeld(replyJson(200, {}));
    const upstream = await tUpstream(reply);
    const { send } = tHttpClient(upstream.url);
    const caller = new AbortController();
    const called = upstream.nextCall();
    const given = expect(send(post, tRequestContext(caller.signal))).rejects.toThrow('aborted');
    await called;
    caller.abort();
    await given;
    upstream.answers(replyJson(200, {}));
    expect(await send({ ...post, path: '/next' })).toMatchObject({ status: 200 });
    release();
  });

  it('has a connection for each call in flight', async () => {
    const { reply, release } = replyHeld(replyJson(200, {}));
    const upstream = await tUpstream(reply);
    const { send } = tHttpClient(upstream.url);
    const outcomes = [send(), send(), send()];
    await vi.waitFor(() => expect(upstream.mostInFlight).toBe(3), { timeout: 100_000 });
    release();
    expect(await Promise.all(outcomes)).toMatchObject([{ status: 200 }, { status: 200 }, { status: 200 }]);
  });

  it('does not call after it was closed', async () => {
    const upstream = await tUpstream(replyJson(200, {}));
    const { send, close } = tHttpClient(upstream.url);
    await send();
    await close();
    expect(await Promise.all([send(), send()])).toMatchObject([{ kind: 'failed' }, { kind: 'failed' }]);
    expect(upstream.calls).toHaveLength(1);
  });

  it('reads headers that arrive in parts, while other responses arrive', async () => {
    const parts = ['HTTP/1.1 200 OK\r\nRetry-Af', 'ter: 1', '20\r\ncontent-length: 2\r\n\r', '\n4', '2'];
    const sockets: Socket[] = [];
    const url = await tTcpServer((socket) => void socket.once('data', () => sockets.push(socket)));
    const { send } = tHttpClient(url);
    const outcomes = [send(), send()];
    await vi.waitFor(() => expect(sockets).toHaveLength(2), { timeout: 100_000 });
    for (const part of parts) {
      for (const socket of sockets) {
        socket.write(part);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    const expected = { status: 200, text: '42', headers: { retryAfter: '120' } };
    expect(await Promise.all(outcomes)).toMatchObject([expected, expected]);
  });

  it('verifies the certificate of a service with TLS', async () => {
    const certificate = await createCertificate();
    const server = createTlsServer(certificate, (_, response) => response.end('{"isSecure":true}'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { send } = tHttpClient(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    onTestFinished(() => void server.close());
    expect(await send()).toMatchObject({ kind: 'failed', reason: 'unreachable' });
    trust(certificate);
    expect(await Promise.all([send(), send()])).toMatchObject(Array(2).fill({ status: 200, json: { isSecure: true } }));
  });
});

/**
 * A service that responds with the path of the request, and that sends the first response of each connection twice: all later
 * requests of the connection get the response to the one before.
 */
function tLateResponses() {
  return tTcpServer((socket) => {
    let last = '';
    socket.on('error', () => {});
    socket.on('data', (data) => {
      const body = JSON.stringify({ path: /^\w+ (\S+)/.exec(String(data))?.[1] });
      const response = `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
      socket.write(last || response);
      last = response;
    });
  });
}
