import { expect, it, onTestFinished, vi } from 'vitest';
import type { RequestContext } from '../../../src/gateway/request-context.ts';
import type { Events } from '../../../src/gateway/telemetry/events.ts';
import { tRequestContext } from '../../support/gateway/callers.ts';
import { get, tAllowance, tHttpClient } from '../../support/gateway/upstream/send.ts';
import { replyHeld, replyJson, tUpstream } from '../../support/scripted-upstream.ts';

const tClient = (baseUrl: string, options: Parameters<typeof tHttpClient>[1] = {}) =>
  tHttpClient(baseUrl, { maxConcurrency: 2, maxQueue: 2, backoffMs: 0, ...options });

it('counts every attempt in the usage of the request', async () => {
  const upstream = await tUpstream((response, call) => {
    return replyJson(upstream.calls.length === 1 ? 500 : 200, {})(response, call);
  });
  const context = tRequestContext();
  expect(await tClient(upstream.url).send(get, context)).toMatchObject({ status: 200 });
  expect(context.usage.upstreamCalls).toBe(2);
});

it('fires an event at the end of every call, without its query', async () => {
  const upstream = await tUpstream(replyJson(200, {}));
  const callEnded = vi.fn<Events['callEnded']>();
  const writeQuery = () => 'iban_number=DE89370400440532013000';
  await tClient(upstream.url, { events: { callEnded } }).send({ ...get, writeQuery }, tRequestContext());
  const [[call, ended] = []] = callEnded.mock.calls;
  expect(call).toMatchObject({ service: 'bank-data', method: 'GET', path: '/thing' });
  expect(ended).toMatchObject({ outcome: { kind: 'answered', status: 200 }, isSent: true });
  expect(call?.path).not.toContain('iban');
});

it('sends nothing for a caller who has aborted', async () => {
  const upstream = await tUpstream();
  const context = tRequestContext(AbortSignal.abort());
  await expect(tClient(upstream.url).send(get, context)).rejects.toThrow('aborted');
  expect([context.usage.upstreamCalls, upstream.calls.length]).toEqual([0, 0]);
});

it.each([
  ['completes a read that was sent although its caller has left', 200, 'resolved'],
  ['does not retry it then', 503, 'rejected'],
])('%s', async (_, status, end) => {
  const { reply, release } = replyHeld(replyJson(status, {}));
  const upstream = await tUpstream(reply);
  const caller = new AbortController();
  const called = upstream.nextCall();
  const sent = tClient(upstream.url).send(get, tRequestContext(caller.signal));
  await called;
  caller.abort();
  release();
  const settled = await sent.then(
    (outcome) => ['resolved', outcome],
    (reason) => ['rejected', reason],
  );
  expect(settled).toMatchObject([end, end === 'resolved' ? { status } : { name: 'AbortError' }]);
  expect(upstream.calls).toHaveLength(1);
});

it('ends a read whose caller has left at its deadline', async () => {
  const upstream = await tUpstream(replyHeld(replyJson(200, {})).reply);
  const caller = new AbortController();
  const called = upstream.nextCall();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const sent = tClient(upstream.url).send(get, tRequestContext(caller.signal));
  await called;
  caller.abort();
  vi.advanceTimersByTime(9_999);
  const settled = vi.fn();
  void sent.finally(settled).catch(() => {});
  await new Promise((resolve) => setImmediate(resolve));
  expect(settled).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  expect(await sent).toMatchObject({ kind: 'failed', reason: 'timed-out' });
});

it('does not send a call that still waits for its connection when its caller leaves', async () => {
  const upstream = await tUpstream();
  const caller = new AbortController();
  const allowance = tAllowance();
  const client = tClient(upstream.url, { allowance });
  const left = expect(client.send(get, tRequestContext(caller.signal))).rejects.toThrow('aborted');
  caller.abort();
  await left;
  await client.send(get, tRequestContext());
  expect(upstream.calls).toHaveLength(1);
  expect(await allowance.status()).toMatchObject({ used: 1 });
  expect(client.status()).toMatchObject({ active: 0, queued: 0 });
});

it('sends calls that were opened together with one timer and one deadline', async () => {
  const { reply, release } = replyHeld(replyJson(200, {}));
  const upstream = await tUpstream(reply);
  const client = tClient(upstream.url, { maxConcurrency: 2, maxQueue: 10 });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  onTestFinished(() => void vi.useRealTimers());
  const called = [upstream.nextCall(), upstream.nextCall()];
  const batch = client.open(tRequestContext());
  const send = (path: string) => new Promise((resolve) => client.call({ ...get, path }, null, { batch }, resolve));
  const sent = ['/1', '/2', '/3'].map(send);
  const timers = vi.getTimerCount();
  await Promise.all(called);
  expect([timers, vi.getTimerCount()]).toEqual([1, 1]);
  vi.advanceTimersByTime(10_000);
  expect(await Promise.all(sent)).toMatchObject([{ reason: 'timed-out' }, { reason: 'timed-out' }, { kind: 'shed' }]);
  expect(await send('/4')).toEqual({ kind: 'shed' });
  expect(vi.getTimerCount()).toBe(0);
  release();
});

it('lets requests take turns, whatever their flights', async () => {
  const { reply, release } = replyHeld(replyJson(200, {}));
  const upstream = await tUpstream(reply);
  const client = tClient(upstream.url, { maxConcurrency: 1, maxQueue: 100 });
  const [list, single] = [tRequestContext(), tRequestContext()];
  const flightOf = (context: RequestContext) => ({ ...context, signal: new AbortController().signal });
  const send = (path: string, context: RequestContext) => client.send({ ...get, path }, flightOf(context));
  const sent = ['/1', '/2', '/3', '/4'].map((path) => send(path, list));
  sent.push(send('/single', single));
  release();
  await Promise.all(sent);
  expect(upstream.calls.map(({ path }) => path)).toEqual(['/1', '/2', '/single', '/3', '/4']);
});
