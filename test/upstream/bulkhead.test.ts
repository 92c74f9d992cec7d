import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withBulkhead } from '../../src/upstream/bulkhead.ts';
import { tCaller } from '../request-context.ts';
import { answers, fails, get, post, tSlowClient } from './send.ts';

const at = (path: string) => ({ ...get, path });
const timeoutMs = 10_000;

it('lets so many calls through, so many wait, and sheds the rest at once', async () => {
  const { client, held } = tSlowClient();
  const { send } = withBulkhead(client, { timeoutMs, maxConcurrency: 2, maxQueue: 1 });
  const sent = ['/1', '/2', '/3'].map((path) => send(at(path), tCaller()));
  expect(await send(at('/4'), tCaller())).toEqual(fails('shed'));
  expect(held.map(({ path }) => path)).toEqual(['/1', '/2']);
  held[0]?.answer(answers(200));
  expect(await sent[0]).toEqual(answers(200));
  await Promise.resolve();
  expect(held.map(({ path }) => path)).toEqual(['/1', '/2', '/3']);
  for (const { answer } of held) answer(answers(200));
  expect(await Promise.all(sent)).toHaveLength(3);
});

it('lets a caller who leaves the line go at once, and goes on with the next', async () => {
  const { client, held } = tSlowClient();
  const { send } = withBulkhead(client, { timeoutMs, maxConcurrency: 1 });
  const leaver = new AbortController();
  const first = send(at('/1'), tCaller());
  const left = [send(at('/2'), tCaller(leaver.signal)), send(at('/3'), tCaller(leaver.signal))];
  const last = send(at('/4'), tCaller());
  leaver.abort();
  for (const outcome of await Promise.allSettled(left)) {
    expect(outcome).toMatchObject({ status: 'rejected', reason: { name: 'AbortError' } });
  }
  held[0]?.answer(answers(200));
  await first;
  await vi.waitFor(() => expect(held).toHaveLength(2));
  expect(held.map(({ path }) => path)).toEqual(['/1', '/4']);
  held[1]?.answer(answers(200));
  expect(await last).toEqual(answers(200));
});

describe('the wait in line', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it.each([
    ['is part of the deadline of a read', get, 6_000],
    ['does not shorten a write, which may be charged for', post, 10_000],
  ])('%s', async (_, request, withinMs) => {
    const { client, held } = tSlowClient();
    const { send } = withBulkhead(client, { timeoutMs, maxConcurrency: 1 });
    const first = send(get, tCaller());
    const second = send(request, tCaller());
    await vi.advanceTimersByTimeAsync(4_000);
    held[0]?.answer(answers(200));
    await first;
    await vi.advanceTimersByTimeAsync(0);
    expect(held[1]?.withinMs).toBe(withinMs);
    held[1]?.answer(answers(200));
    expect(await second).toEqual(answers(200));
  });

  it('is over once it was said to be, though the clock lags behind the timer: nothing is paid for that was given up', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { client, held } = tSlowClient();
    const { send } = withBulkhead(client, { timeoutMs, maxConcurrency: 1 });
    const first = send(get, tCaller());
    const second = send(post, tCaller());
    await vi.advanceTimersByTimeAsync(timeoutMs);
    expect(await second).toEqual(fails('shed'));
    held[0]?.answer(answers(200));
    await first;
    await vi.advanceTimersByTimeAsync(0);
    expect(held).toHaveLength(1);
  });

  it('ends at the deadline: what was not sent until then is shed, and its turn passes on', async () => {
    const { client, held } = tSlowClient();
    const { send } = withBulkhead(client, { timeoutMs, maxConcurrency: 1 });
    const first = send(at('/1'), tCaller());
    const second = send(at('/2'), tCaller(), 3_000);
    const third = send(at('/3'), tCaller());
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await second).toEqual(fails('shed'));
    held[0]?.answer(answers(200));
    await first;
    await vi.advanceTimersByTimeAsync(0);
    expect(held.map(({ path }) => path)).toEqual(['/1', '/3']);
    held[1]?.answer(answers(200));
    expect(await third).toEqual(answers(200));
    expect(vi.getTimerCount()).toBe(0);
  });
});
