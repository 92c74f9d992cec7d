import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Events } from '../../src/telemetry/events.ts';
import { createSecretRedaction } from '../../src/telemetry/redact.ts';
import { createTransport } from '../../src/upstream/transport.ts';
import { replyHeld, replyJson, replyText, replyTruncated, tUnusedUrl, tUpstream } from '../scripted-upstream.ts';
import { get, tDeadline } from './send.ts';

function tTransport(baseUrl: string, options: { maxResponseBytes?: number } = {}) {
  const calls: Parameters<Events['upstreamCalled']>[0][] = [];
  const transport = createTransport({
    service: 'bank-data',
    baseUrl,
    headers: { apikey: 'seeded-key' },
    maxResponseBytes: 1_000_000,
    maxConnections: 1,
    redactSecrets: createSecretRedaction(['seeded-key']),
    events: { upstreamCalled: (call) => calls.push(call) },
    ...options,
  });
  onTestFinished(() => transport.close());
  return { send: (request = get, deadline = tDeadline()) => transport.makeCall(request, deadline), calls };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('the transport', () => {
  it('returns status, rate limit, Retry-After and body of any response', async () => {
    const headers = { 'retry-after': 'Tue, 01 Dec 2026 00:00:00 GMT', 'X-RateLimit-Remaining-Month': '7' };
    const upstream = await tUpstream(replyJson(418, { tea: true }, headers));
    const outcome = await tTransport(upstream.url).send();
    expect(outcome).toMatchObject({ kind: 'answered', status: 418, text: '{"tea":true}', json: { tea: true } });
    expect(outcome).toMatchObject({ retryAt: new Date('2026-12-01T00:00:00Z') });
    expect(outcome).toHaveProperty('headers.x-ratelimit-remaining-month', '7');
  });

  it('puts paths below the base URL and encodes the query', async () => {
    const upstream = await tUpstream();
    await tTransport(`${upstream.url}/base/v2/`).send({ ...get, query: { q: 'a b&c=d', l: 'ü', s: '\ud800' } });
    expect(upstream.calls[0]?.path).toBe('/base/v2/thing');
    expect(Object.fromEntries(upstream.calls[0]?.query ?? [])).toEqual({ q: 'a b&c=d', l: 'ü', s: '\ufffd' });
  });

  it('does not follow a redirect: the key belongs to one origin', async () => {
    const elsewhere = await tUpstream();
    const upstream = await tUpstream(replyText(302, '', { location: elsewhere.url }));
    expect(await tTransport(upstream.url).send()).toMatchObject({ kind: 'answered', status: 302 });
    expect(elsewhere.calls).toHaveLength(0);
  });

  it('returns a body that is not JSON as text', async () => {
    const upstream = await tUpstream(replyText(200, 'plain'));
    expect(await tTransport(upstream.url).send()).toMatchObject({ kind: 'answered', text: 'plain', json: undefined });
  });

  it('redacts a key that the upstream echoes, in whole and in truncated responses', async () => {
    const upstream = await tUpstream(replyJson(200, { name: 'seeded-key' }));
    const { send } = tTransport(upstream.url);
    expect(await send()).toMatchObject({ json: { name: '[hidden]' }, text: '{"name":"[hidden]"}' });
    upstream.answers(replyTruncated('{"name":"seeded-key'));
    expect(await send()).toMatchObject({ kind: 'failed', text: '{"name":"[hidden]' });
  });

  it('decodes characters that arrive in several chunks', async () => {
    const upstream = await tUpstream((response) => {
      const bytes = Buffer.from('"Köln €"');
      response.write(bytes.subarray(0, 3), () => response.end(bytes.subarray(3)));
    });
    expect(await tTransport(upstream.url).send()).toMatchObject({ json: 'Köln €' });
  });

  it('removes a byte order mark, and replaces what is not UTF-8', async () => {
    const upstream = await tUpstream((response) => {
      response.end(Buffer.from([0xef, 0xbb, 0xbf, 0x22, 0xff, 0xe2, 0x82, 0x22]));
    });
    expect(await tTransport(upstream.url).send()).toMatchObject({ text: '"\ufffd\ufffd"', json: '\ufffd\ufffd' });
  });

  it('settles a call that is not sent yet at the deadline, and never sends it', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const { reply, release } = replyHeld(replyJson(200, {}));
    const upstream = await tUpstream(reply);
    const { send } = tTransport(upstream.url);
    const first = send(get, tDeadline(undefined, 9_000));
    await upstream.nextCall();
    const second = send({ ...get, path: '/second' }, tDeadline(undefined, 5_000));
    vi.advanceTimersByTime(5_000);
    expect(await second).toMatchObject({ kind: 'failed', reason: 'timed-out' });
    release();
    expect(await first).toMatchObject({ kind: 'answered' });
    expect(await send({ ...get, path: '/third' })).toMatchObject({ kind: 'answered' });
    expect(upstream.calls.map(({ path }) => path)).toEqual(['/thing', '/third']);
  });

  it('accepts a response of exactly the largest size, and not one byte more', async () => {
    const upstream = await tUpstream(replyText(200, 'x'.repeat(1_024)));
    const { send } = tTransport(upstream.url, { maxResponseBytes: 1_024 });
    expect(await send()).toMatchObject({ kind: 'answered' });
    upstream.answers(replyText(200, 'x'.repeat(1_025)));
    expect(await send()).toEqual({ kind: 'failed', reason: 'too-large', text: 'x'.repeat(1_024) });
  });

  it('discards the part of a failed response that was not successful', async () => {
    const upstream = await tUpstream(replyText(500, 'x'.repeat(2_000)));
    const outcome = await tTransport(upstream.url, { maxResponseBytes: 1_024 }).send();
    expect(outcome).toEqual({ kind: 'failed', reason: 'too-large', text: '' });
  });

  it('distinguishes a request that was never sent from one that may have been processed', async () => {
    const nowhere = tTransport(await tUnusedUrl());
    expect(await nowhere.send()).toMatchObject({ reason: 'unreachable' });
    const unknownName = tTransport('http://no-such-host.invalid');
    expect(await unknownName.send()).toMatchObject({ reason: 'unreachable' });
    const upstream = await tUpstream((response) => void response.destroy());
    expect(await tTransport(upstream.url).send()).toMatchObject({ reason: 'reset' });
  });

  it('times out at the deadline, even while the body arrives', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
    const upstream = await tUpstream((response) => {
      response.writeHead(200);
      response.write('"begin');
    });
    const outcome = tTransport(upstream.url).send(get, tDeadline(undefined, 5_000));
    await upstream.nextCall();
    vi.advanceTimersByTime(5_000);
    expect(await outcome).toMatchObject({ kind: 'failed', reason: 'timed-out' });
  });

  it('reuses a connection', async () => {
    const ports = new Set<number | undefined>();
    const upstream = await tUpstream((response, call) => {
      ports.add(response.socket?.remotePort);
      return replyJson(200, {})(response, call);
    });
    const { send } = tTransport(upstream.url);
    for (let round = 0; round < 5; round += 1) await send();
    expect(ports.size).toBeLessThan(3);
  });

  it('fires an event for every call, without its query', async () => {
    const upstream = await tUpstream(replyJson(200, {}));
    const { send, calls } = tTransport(upstream.url);
    await send({ ...get, query: { iban_number: 'DE89370400440532013000' } });
    expect(calls).toMatchObject([{ service: 'bank-data', path: '/thing', outcome: { kind: 'answered', status: 200 } }]);
    expect(Object.keys(calls[0] ?? {})).not.toContain('query');
  });
});
