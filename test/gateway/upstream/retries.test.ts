import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Outcome, shed } from '../../../src/gateway/upstream/outcome.ts';
import {
  answered,
  failed,
  get,
  post,
  type TSend,
  tDeadline,
  tRetries,
  tSend,
} from '../../support/gateway/upstream/send.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
});

const exhausted: Outcome = { kind: 'exhausted', renewsAt: new Date('2026-12-01') };
const inSeconds = (seconds: number) => ({ retryAt: new Date(Date.now() + seconds * 1_000) });

/** Sends, and lets all pauses pass. */
async function sendThrough(send: TSend, request = get) {
  const outcome = tRetries(send)(request, tDeadline());
  await vi.advanceTimersByTimeAsync(9_999);
  return outcome;
}

/* How often each outcome is retried is in the tables of the failure matrix; these are the outcomes that it does not have. */
it.each([
  ['a read that is shed', get, shed],
  ['a read that is exhausted', get, exhausted],
  ['a read that is answered with 501', get, answered(501)],
  ['a write that is shed', post, shed],
])('does not retry %s', async (_, request, outcome) => {
  const { send, sent } = tSend(outcome);
  expect(await sendThrough(send, request)).toEqual(outcome);
  expect(sent).toHaveLength(1);
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
    const outcome = tRetries(send)(get, tDeadline());
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
    const outcome = tRetries(patient.send)(get, tDeadline());
    await vi.advanceTimersByTimeAsync(4_999);
    expect(patient.sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(await outcome).toEqual(answered(200));
    // The second attempt has the remaining time of the deadline.
    expect(patient.sent[1]?.leftMs).toBe(5_000);

    const late = tSend(answered(503, inSeconds(11)));
    expect(await sendThrough(late.send)).toMatchObject({ status: 503 });
    expect(late.sent).toHaveLength(1);
  });

  it('ends when its caller aborts during a pause', async () => {
    const caller = new AbortController();
    const { send, sent } = tSend(answered(500));
    const deadline = tDeadline(caller.signal);
    const settled = expect(tRetries(send)(get, deadline)).rejects.toThrow('aborted');
    caller.abort();
    deadline.end();
    await vi.runAllTimersAsync();
    await settled;
    expect(sent).toHaveLength(1);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('returns its last outcome when the deadline expires during a pause', async () => {
    const { send, sent } = tSend(answered(500));
    const deadline = tDeadline(undefined, 50);
    vi.spyOn(Math, 'random').mockReturnValue(0.5);
    // As where a timer fires early: the clock still shows time for a pause of 50 ms.
    vi.spyOn(deadline, 'leftMs').mockReturnValueOnce(51);
    const outcome = tRetries(send)(get, deadline);
    await vi.advanceTimersByTimeAsync(50);
    expect(await outcome).toEqual(answered(500));
    expect(sent).toHaveLength(1);
  });

  it('adds at most a tenth to the calls of a failing upstream in the long run', async () => {
    const { send, sent } = tSend(answered(500));
    const retried = tRetries(send);
    for (let round = 0; round < 1_000; round += 1) {
      const outcome = retried(get, tDeadline());
      await vi.advanceTimersByTimeAsync(300);
      await outcome;
    }
    expect(sent.length).toBeLessThanOrEqual(1_000 + 100 + 10);
    expect(sent.length).toBeGreaterThan(1_050);
  });
});
