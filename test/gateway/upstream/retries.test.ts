import { beforeEach, describe, expect, it, vi } from 'vitest';
import { tRequestContext } from '../../support/gateway/callers.ts';
import { answered, failed, get, post, type TSend, tAttempt, tSend } from '../../support/gateway/upstream/send.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
});

const inSeconds = (seconds: number) => ({ retryAt: new Date(Date.now() + seconds * 1_000) });

/** Makes calls whose pauses are up to 100 ms before the first retry. */
function tRetries(send: TSend, timeoutMs = 10_000) {
  return tAttempt(send, { backoffMs: 100, timeoutMs });
}

/** Sends, and lets all pauses pass. */
async function sendThrough(send: TSend, endpoint = get) {
  const outcome = tRetries(send)(endpoint);
  await vi.advanceTimersByTimeAsync(9_999);
  return outcome;
}

/* How often each outcome is retried is in the tables of the failure matrix; this is one that it does not have. */
it('does not retry a read that is answered with 501', async () => {
  const { send, sent } = tSend(answered(501));
  expect(await sendThrough(send)).toEqual(answered(501));
  expect(sent).toHaveLength(1);
});

it.each([
  ['a read', get],
  ['an order', post],
])('does not retry %s that the allowance refuses', async (_, endpoint) => {
  const reserve = vi.fn(() => ({ kind: 'exhausted' as const, renewsAt: new Date('2026-12-01') }));
  const outcome = tAttempt(tSend(answered(200)).send, { backoffMs: 100, allowance: { reserve } })(endpoint);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(await outcome).toMatchObject({ kind: 'exhausted' });
  expect(reserve).toHaveBeenCalledOnce();
});

it('returns the failure before the one that the budget of the caller refuses', async () => {
  let calls = 0;
  const reserveCall = () => {
    calls += 1;
    return calls === 1
      ? { kind: 'reserved' as const, release() {} }
      : { kind: 'budget-exhausted' as const, renewsAt: new Date('2026-12-01') };
  };
  const outcome = tRetries(tSend(answered(500)).send)(get, undefined, { ...tRequestContext(), reserveCall });
  await vi.advanceTimersByTimeAsync(9_999);
  expect(await outcome).toEqual(answered(500));
  expect(calls).toBe(2);
});

describe('a read', () => {
  it('returns the first attempt that succeeds', async () => {
    const { send, sent } = tSend(answered(500), failed('reset'), answered(200));
    expect(await sendThrough(send)).toEqual(answered(200));
    expect(sent).toHaveLength(3);
  });

  it('pauses for a random time up to a bound that doubles', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const { send, sent } = tSend(answered(500));
    const outcome = tRetries(send)();
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

  it('pauses as long as a 503 requests, and returns it where that is past the deadline', async () => {
    const patient = tSend(answered(503, inSeconds(5)), answered(200));
    const outcome = tRetries(patient.send)();
    await vi.advanceTimersByTimeAsync(4_999);
    expect(patient.sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toEqual(answered(200));

    const late = tSend(answered(503, inSeconds(11)));
    expect(await sendThrough(late.send)).toMatchObject({ status: 503 });
    expect(late.sent).toHaveLength(1);
  });

  it('ends when its caller aborts during a pause', async () => {
    const caller = new AbortController();
    const { send, sent } = tSend(answered(500));
    const settled = expect(tRetries(send)(get, caller.signal)).rejects.toThrow('aborted');
    await vi.advanceTimersByTimeAsync(0);
    caller.abort();
    await vi.runAllTimersAsync();
    await settled;
    expect(sent).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('returns its last outcome when the deadline expires during a pause', async () => {
    const { send, sent } = tSend(answered(500));
    const clock = performance.now();
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    const outcome = tRetries(send, 50)();
    // As where a timer fires early: the clock still shows time for a pause of 50 ms.
    vi.spyOn(performance, 'now').mockReturnValue(clock - 1);
    await vi.advanceTimersByTimeAsync(0);
    vi.mocked(performance.now).mockRestore();
    await vi.advanceTimersByTimeAsync(50);
    expect(await outcome).toEqual(answered(500));
    expect(sent).toHaveLength(1);
  });

  it('adds at most a tenth to the calls of a failing upstream in the long run', async () => {
    const { send, sent } = tSend(answered(500));
    const retried = tRetries(send);
    for (let round = 0; round < 1_000; round += 1) {
      // Each path has a circuit of its own.
      const outcome = retried({ ...get, path: `/${round}` });
      await vi.advanceTimersByTimeAsync(300);
      await outcome;
    }
    expect(sent.length).toBeLessThanOrEqual(1_000 + 100 + 10);
    expect(sent.length).toBeGreaterThan(1_050);
  });
});
