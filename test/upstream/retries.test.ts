import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { withRetries } from '../../src/upstream/retries.ts';
import { tCaller } from '../request-context.ts';
import { answers, fails, get, post, tClient } from './send.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const unreadable = answers(200, { json: undefined });

/** Sends, and lets all the time pass that is waited for. */
async function sendThrough(client: ReturnType<typeof tClient>['client'], request = get, options: object = {}) {
  const sent = withRetries(client, { timeoutMs: 10_000, ...options }).send(request, tCaller());
  await vi.runAllTimersAsync();
  return sent;
}

describe('a read', () => {
  it.each([
    ['500', answers(500), 3],
    ['502', answers(502), 3],
    ['503', answers(503), 3],
    ['504', answers(504), 3],
    ['unreachable', fails('unreachable'), 3],
    ['reset', fails('reset'), 3],
    ['truncated', fails('truncated'), 2],
    ['too large', fails('too-large'), 2],
    ['not JSON', { ...unreadable, json: undefined }, 2],
    ['timed out', fails('timed-out'), 1],
    ['shed', fails('shed'), 1],
    ['400', answers(400), 1],
    ['401', answers(401), 1],
    ['404', answers(404), 1],
    ['422', answers(422), 1],
    ['429', answers(429), 1],
    ['501', answers(501), 1],
    ['200', answers(200), 1],
  ])('that is %s is tried so often', async (_, outcome, times) => {
    const { client, sent } = tClient(outcome);
    expect(await sendThrough(client)).toEqual(outcome);
    expect(sent).toHaveLength(times);
  });

  it('is answered by the first try that succeeds', async () => {
    const { client, sent } = tClient(answers(500), fails('reset'), answers(200));
    expect(await sendThrough(client)).toEqual(answers(200));
    expect(sent).toHaveLength(3);
  });

  it('waits a time drawn from 0 to a bound that doubles', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { client, sent } = tClient(answers(500));
    const { send } = withRetries(client, { timeoutMs: 10_000, backoffMs: 100 });
    const outcome = send(get, tCaller());
    await vi.advanceTimersByTimeAsync(49);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(99);
    expect(sent).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toHaveLength(3);
    await outcome;
  });

  it('waits as long as a 503 asks for, and gives up where that is past the deadline', async () => {
    const patient = tClient(answers(503, { headers: { 'retry-after': '5' } }), answers(200));
    const sent = withRetries(patient.client, { timeoutMs: 10_000 }).send(get, tCaller());
    await vi.advanceTimersByTimeAsync(4_999);
    expect(patient.sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await sent).toEqual(answers(200));
    // What is left of the deadline is the second try's.
    expect(patient.sent[1]?.withinMs).toBe(5_000);

    const late = tClient(answers(503, { headers: { 'retry-after': '11' } }));
    await sendThrough(late.client);
    expect(late.sent).toHaveLength(1);
  });

  it('is given up when its caller leaves while it waits', async () => {
    const leaver = new AbortController();
    const { client, sent } = tClient(answers(500));
    const outcome = withRetries(client, { timeoutMs: 10_000 }).send(get, tCaller(leaver.signal));
    const settled = expect(outcome).rejects.toThrow('aborted');
    leaver.abort();
    await vi.runAllTimersAsync();
    await settled;
    expect(sent).toHaveLength(1);
  });

  it('costs a failing upstream at most a tenth more calls over time', async () => {
    const { client, sent } = tClient(answers(500));
    const { send } = withRetries(client, { timeoutMs: 10_000 });
    for (let round = 0; round < 1_000; round += 1) {
      const outcome = send(get, tCaller());
      await vi.runAllTimersAsync();
      await outcome;
    }
    expect(sent.length).toBeLessThanOrEqual(1_000 + 100 + 10);
    expect(sent.length).toBeGreaterThan(1_050);
  });
});

describe('a write', () => {
  it.each([
    ['503: turned away', answers(503), 2],
    ['unreachable: never left', fails('unreachable'), 2],
    ['500', answers(500), 1],
    ['502', answers(502), 1],
    ['504', answers(504), 1],
    ['reset', fails('reset'), 1],
    ['truncated', fails('truncated'), 1],
    ['too large', fails('too-large'), 1],
    ['timed out', fails('timed-out'), 1],
    ['not JSON', { ...unreadable, json: undefined }, 1],
    ['429', answers(429), 1],
  ])('that is %s is sent so often', async (_, outcome, times) => {
    const { client, sent } = tClient(outcome);
    expect(await sendThrough(client, post)).toEqual(outcome);
    expect(sent).toHaveLength(times);
  });
});
