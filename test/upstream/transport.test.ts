import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Events } from '../../src/telemetry/events.ts';
import { createHttpTransport } from '../../src/upstream/transport.ts';
import { tCaller } from '../request-context.ts';
import { replyJson, replyNever, replyText, replyTruncated, tUnusedUrl, tUpstream } from '../scripted-upstream.ts';

const nobodyLeaves = tCaller();
const get = { method: 'GET', path: '/thing' } as const;

function tClient(baseUrl: string, options: { timeoutMs?: number; maxAnswerBytes?: number } = {}) {
  const told: Parameters<Events['upstreamCalled']>[0][] = [];
  const events = { upstreamCalled: (call) => told.push(call) } as Partial<Events> as Events;
  const client = createHttpTransport({
    service: 'bank-data',
    baseUrl,
    headers: { apikey: 'seeded-key' },
    timeoutMs: 10_000,
    conceal: (text) => text.replaceAll('seeded-key', '[hidden]'),
    events,
    ...options,
  });
  onTestFinished(() => client.close());
  return { send: client.send, told };
}

afterEach(() => {
  vi.useRealTimers();
});

describe('the HTTP transport', () => {
  it('hands over status, headers and body of any answer', async () => {
    const upstream = await tUpstream(replyJson(418, { tea: true }, { 'retry-after': '7' }));
    const outcome = await tClient(upstream.url).send(get, nobodyLeaves);
    expect(outcome).toMatchObject({ kind: 'answer', status: 418, text: '{"tea":true}', json: { tea: true } });
    expect(outcome).toHaveProperty('headers.retry-after', '7');
  });

  it('puts paths below the base URL and encodes the query', async () => {
    const upstream = await tUpstream();
    await tClient(`${upstream.url}/base/v2/`).send({ ...get, query: { q: 'a b&c=d', l: 'ü' } }, nobodyLeaves);
    expect(upstream.calls[0]?.path).toBe('/base/v2/thing');
    expect(Object.fromEntries(upstream.calls[0]?.query ?? [])).toEqual({ q: 'a b&c=d', l: 'ü' });
  });

  it('does not follow a redirect: the key belongs to one origin', async () => {
    const elsewhere = await tUpstream();
    const upstream = await tUpstream(replyText(302, '', { location: elsewhere.url }));
    expect(await tClient(upstream.url).send(get, nobodyLeaves)).toMatchObject({ kind: 'answer', status: 302 });
    expect(elsewhere.calls).toHaveLength(0);
  });

  it('reads text that is not JSON as text', async () => {
    const upstream = await tUpstream(replyText(200, 'plain'));
    const outcome = await tClient(upstream.url).send(get, nobodyLeaves);
    expect(outcome).toMatchObject({ kind: 'answer', text: 'plain', json: undefined });
  });

  it('shows no key that the upstream echoes, in whole or broken answers', async () => {
    const upstream = await tUpstream(replyJson(200, { name: 'seeded-key' }));
    const { send } = tClient(upstream.url);
    expect(await send(get, nobodyLeaves)).toMatchObject({ json: { name: '[hidden]' }, text: '{"name":"[hidden]"}' });
    upstream.answers(replyTruncated('{"name":"seeded-key'));
    expect(await send(get, nobodyLeaves)).toMatchObject({ kind: 'failure', text: '{"name":"[hidden]' });
  });

  it('puts characters together that arrive in pieces', async () => {
    const upstream = await tUpstream((response) => {
      const bytes = Buffer.from('"Köln €"');
      response.write(bytes.subarray(0, 3), () => response.end(bytes.subarray(3)));
    });
    expect(await tClient(upstream.url).send(get, nobodyLeaves)).toMatchObject({ json: 'Köln €' });
  });

  it('takes an answer of exactly the largest size, and not one byte more', async () => {
    const upstream = await tUpstream(replyText(200, 'x'.repeat(1_024)));
    const { send } = tClient(upstream.url, { maxAnswerBytes: 1_024 });
    expect(await send(get, nobodyLeaves)).toMatchObject({ kind: 'answer' });
    upstream.answers(replyText(200, 'x'.repeat(1_025)));
    expect(await send(get, nobodyLeaves)).toEqual({ kind: 'failure', reason: 'too-large', text: 'x'.repeat(1_024) });
  });

  it('keeps no part of a broken answer that was no success', async () => {
    const upstream = await tUpstream(replyText(500, 'x'.repeat(2_000)));
    const outcome = await tClient(upstream.url, { maxAnswerBytes: 1_024 }).send(get, nobodyLeaves);
    expect(outcome).toEqual({ kind: 'failure', reason: 'too-large', text: '' });
  });

  it('tells a request that never left from one whose fate is not known', async () => {
    const nowhere = tClient(await tUnusedUrl());
    expect(await nowhere.send(get, nobodyLeaves)).toMatchObject({ reason: 'unreachable' });
    const unknownName = tClient('http://no-such-host.invalid');
    expect(await unknownName.send(get, nobodyLeaves)).toMatchObject({ reason: 'unreachable' });
    const upstream = await tUpstream((response) => void response.destroy());
    expect(await tClient(upstream.url).send(get, nobodyLeaves)).toMatchObject({ reason: 'reset' });
  });

  it('keeps the deadline while the body trickles', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const upstream = await tUpstream((response) => {
      response.writeHead(200);
      response.write('"begin');
    });
    const sent = tClient(upstream.url, { timeoutMs: 5_000 }).send(get, nobodyLeaves);
    await upstream.nextCall();
    vi.advanceTimersByTime(5_000);
    expect(await sent).toMatchObject({ kind: 'failure', reason: 'timed-out' });
  });

  it('uses a connection again', async () => {
    const ports = new Set<number | undefined>();
    const upstream = await tUpstream((response, call) => {
      ports.add(response.socket?.remotePort);
      return replyJson(200, {})(response, call);
    });
    const { send } = tClient(upstream.url);
    for (let round = 0; round < 5; round += 1) await send(get, nobodyLeaves);
    expect(ports.size).toBeLessThan(3);
  });

  it('counts the call for the caller, and sends nothing for one who left', async () => {
    const upstream = await tUpstream(replyJson(200, {}));
    const { send } = tClient(upstream.url);
    const caller = tCaller();
    await send(get, caller);
    expect(caller.cost.upstreamCalls).toBe(1);
    const gone = tCaller(AbortSignal.abort());
    await expect(send(get, gone)).rejects.toThrow('aborted');
    expect(gone.cost.upstreamCalls).toBe(0);
    expect(upstream.calls).toHaveLength(1);
  });

  it('keeps to a shorter deadline that it is given for one call', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const upstream = await tUpstream(replyNever);
    const sent = tClient(upstream.url).send(get, nobodyLeaves, 50);
    await upstream.nextCall();
    vi.advanceTimersByTime(50);
    expect(await sent).toMatchObject({ reason: 'timed-out' });
  });

  it('tells of every call, without its query', async () => {
    const upstream = await tUpstream(replyJson(200, {}));
    const { send, told } = tClient(upstream.url);
    await send({ ...get, query: { iban_number: 'DE89370400440532013000' } }, nobodyLeaves);
    expect(told).toMatchObject([{ service: 'bank-data', path: '/thing', outcome: { kind: 'answer', status: 200 } }]);
  });
});
