import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Events } from '../../src/telemetry/events.ts';
import { withCircuitBreaker } from '../../src/upstream/circuit-breaker.ts';
import type { RestClient } from '../../src/upstream/upstream-client.ts';
import { tCaller } from '../request-context.ts';
import { answers, fails, get, tClient, tSlowClient } from './send.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

function tBreaker(client: RestClient) {
  const told: string[] = [];
  const events = {
    circuitOpened: (_, path) => told.push(`opened ${path}`),
    circuitClosed: (_, path) => told.push(`closed ${path}`),
  } as Partial<Events> as Events;
  const { send } = withCircuitBreaker(client, { service: 'bank-data', events });
  const ask = (path = get.path) => send({ ...get, path }, tCaller());
  const askTimes = async (times: number) => {
    for (let round = 0; round < times; round += 1) await ask();
  };
  return { send, ask, askTimes, told };
}

describe('the circuit breaker', () => {
  it.each([
    ['5xx', answers(503)],
    ['timeouts', fails('timed-out')],
    ['refused connections', fails('unreachable')],
    ['broken connections', fails('reset')],
    ['truncated answers', fails('truncated')],
  ])('opens on %s, and then calls no more', async (_, outcome) => {
    const { client, sent } = tClient(outcome);
    const { ask, askTimes, told } = tBreaker(client);
    await askTimes(10);
    expect(told).toEqual(['opened /thing']);
    expect(await ask()).toEqual(fails('shed'));
    expect(sent).toHaveLength(10);
  });

  it.each([400, 401, 403, 404, 422, 429])('does not open on %i, however often', async (status) => {
    const { client, sent } = tClient(answers(status));
    const { askTimes, told } = tBreaker(client);
    await askTimes(50);
    expect(sent).toHaveLength(50);
    expect(told).toEqual([]);
  });

  it('does not open while most calls succeed', async () => {
    const { client, nowAnswers } = tClient(answers(200));
    const { askTimes, told } = tBreaker(client);
    await askTimes(15);
    nowAnswers(answers(500));
    await askTimes(10);
    expect(told).toEqual([]);
  });

  it('closes with the first probe that succeeds', async () => {
    const { client, sent, nowAnswers } = tClient(answers(500));
    const { ask, askTimes, told } = tBreaker(client);
    await askTimes(10);
    vi.advanceTimersByTime(1_000);
    expect(await ask()).toEqual(answers(500));
    expect(await ask()).toEqual(fails('shed'));
    vi.advanceTimersByTime(1_000);
    nowAnswers(answers(200));
    expect(await ask()).toEqual(answers(200));
    expect(await ask()).toEqual(answers(200));
    expect(told).toEqual(['opened /thing', 'opened /thing', 'closed /thing']);
    expect(sent).toHaveLength(13);
  });

  it('lets nobody wait for a probe', async () => {
    const { client, held } = tSlowClient();
    const { ask } = tBreaker(client);
    const failed = Promise.all(Array.from({ length: 10 }, () => ask()));
    for (const { answer } of held) answer(answers(500));
    await failed;
    vi.advanceTimersByTime(1_000);
    const probe = ask();
    expect(await ask()).toEqual(fails('shed'));
    expect(held).toHaveLength(11);
    held[10]?.answer(answers(200));
    expect(await probe).toEqual(answers(200));
  });

  it('stays open when the caller of a probe gives up', async () => {
    const { client, held } = tSlowClient();
    const { ask, send } = tBreaker(client);
    const failed = Promise.all(Array.from({ length: 10 }, () => ask()));
    for (const { answer } of held) answer(answers(500));
    await failed;
    vi.advanceTimersByTime(1_000);
    const leaver = new AbortController();
    const probe = send(get, tCaller(leaver.signal));
    leaver.abort();
    await expect(probe).rejects.toThrow('aborted');
    expect(await ask()).toEqual(fails('shed'));
  });

  it('takes a caller who gives up for neither a success nor a failure', async () => {
    const { client, held } = tSlowClient();
    const { ask, send, told } = tBreaker(client);
    const leaver = new AbortController();
    const left = Array.from({ length: 20 }, () => send(get, tCaller(leaver.signal)));
    leaver.abort();
    for (const { status } of await Promise.allSettled(left)) expect(status).toBe('rejected');
    expect(told).toEqual([]);
    const failed = Promise.all(Array.from({ length: 10 }, () => ask()));
    for (const { answer } of held) answer(answers(500));
    await failed;
    expect(told).toEqual(['opened /thing']);
  });

  it('guards each route on its own', async () => {
    const { client, sent } = tClient(answers(500));
    const { ask, askTimes } = tBreaker(client);
    await askTimes(10);
    expect(await ask('/other')).toEqual(answers(500));
    expect(sent).toHaveLength(11);
  });
});

describe('an upstream that says with 429 when to come again', () => {
  it('is not called before', async () => {
    const { client, sent, nowAnswers } = tClient(answers(429, { headers: { 'retry-after': '60' } }));
    const { ask } = tBreaker(client);
    await ask();
    nowAnswers(answers(200));
    vi.advanceTimersByTime(59_999);
    const again = await ask();
    expect(again).toMatchObject({ kind: 'answer', status: 429 });
    expect(sent).toHaveLength(1);
    vi.advanceTimersByTime(1);
    expect(await ask()).toEqual(answers(200));
  });

  it('is called all the same if it does not say when', async () => {
    const { client, sent } = tClient(answers(429));
    const { askTimes } = tBreaker(client);
    await askTimes(3);
    expect(sent).toHaveLength(3);
  });
});

it('does not take an answer of ours for the word of the upstream', async () => {
  const headers = { 'retry-after': 'Tue, 01 Dec 2099 00:00:00 GMT' };
  const { client, sent } = tClient({ ...answers(429, { headers }), isOurs: true }, answers(200));
  const { ask } = tBreaker(client);
  await ask();
  expect(await ask()).toEqual(answers(200));
  expect(sent).toHaveLength(2);
});
