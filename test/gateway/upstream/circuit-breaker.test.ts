import { beforeEach, describe, expect, it, vi } from 'vitest';
import { type Answered, type Exhausted, type Failed, shed } from '../../../src/gateway/upstream/outcome.ts';
import { answered, failed, get, tBreaker, tHeldSend, tSend } from '../../support/gateway/upstream/send.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});

const reserved = { kind: 'reserved' as const, release() {}, recordAnswer() {} };
const exhausted: Exhausted = { kind: 'exhausted', renewsAt: new Date('2026-12-01') };

/** A breaker whose circuit ten failed calls have opened, at the moment when it lets a probe through. */
async function tProbe() {
  const { send, held } = tHeldSend();
  const breaker = tBreaker(send);
  const failures = Promise.all(Array.from({ length: 10 }, () => breaker.call()));
  for (const { returns } of held) returns(answered(500));
  await failures;
  vi.advanceTimersByTime(1_000);
  return { ...breaker, held };
}

describe('the circuit breaker', () => {
  it.each([
    ['5xx', answered(503)],
    ['timeouts', failed('timed-out')],
    ['refused connections', failed('unreachable')],
    ['broken connections', failed('reset')],
    ['truncated responses', failed('truncated')],
  ])('opens on %s, and then makes no more calls to that path', async (_, outcome) => {
    const { send, sent } = tSend(outcome);
    const { call, callTimes, events } = tBreaker(send);
    await callTimes(10);
    expect(events).toEqual(['open /thing']);
    expect(await call()).toEqual(shed);
    expect(sent).toHaveLength(10);
    expect(await call('/other')).toEqual(outcome);
  });

  it.each<[string, Answered | Failed]>([
    ...[400, 404, 422].map((status): [string, Answered] => [String(status), answered(status)]),
    ['responses that are too large', failed('too-large')],
    ['responses to other requests', failed('mismatched')],
  ])('does not open on %s, however many', async (_, outcome) => {
    const { send, sent } = tSend(outcome);
    const { callTimes, events } = tBreaker(send);
    await callTimes(50);
    expect(sent).toHaveLength(50);
    expect(events).toEqual([]);
  });

  it.each<[string, Answered, string]>([
    ['401', answered(401), 'credentials'],
    ['403', answered(403), 'credentials'],
    ['a body that rejects the key', answered(200, { json: { fault: 'credentials' } }), 'credentials'],
    ['402', answered(402), 'allowance'],
    ['429', answered(429), 'allowance'],
    ['a body that says that the allowance is exhausted', answered(200, { json: { fault: 'allowance' } }), 'allowance'],
  ])('opens on %s, and says why for calls that are not made', async (_, refusal, cause) => {
    const { send, sent } = tSend(refusal);
    const { call, callTimes, events } = tBreaker(send);
    await callTimes(50);
    expect(sent).toHaveLength(10);
    expect(events).toEqual(['open /thing']);
    expect(await call()).toEqual({ kind: 'blocked', cause, retryAt: null });
    expect(await call('/other')).toMatchObject({ status: refusal.status });
  });

  it('waits longer after each probe that fails, at most a minute', async () => {
    const { send, sent } = tSend(answered(500));
    const { call, callTimes } = tBreaker(send);
    await callTimes(10);
    const waitedS: number[] = [];
    for (let probe = 0; probe < 9; probe += 1) {
      let seconds = 0;
      for (; sent.length === 10 + probe; seconds += 1) {
        vi.advanceTimersByTime(1_000);
        await call();
      }
      waitedS.push(seconds);
    }
    expect(waitedS).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  });

  it('closes when the key is replaced', async () => {
    const access = { apiKey: 'old' };
    const { send, sent, returnsNext } = tSend(answered(401));
    const { call, callTimes, events } = tBreaker(send, { access });
    await callTimes(50);
    access.apiKey = 'new';
    returnsNext(answered(200));
    expect(await call()).toEqual(answered(200));
    expect(sent).toHaveLength(11);
    expect(events).toEqual(['open /thing', 'closed /thing']);
  });

  it('does not open while most calls succeed', async () => {
    const { send, returnsNext } = tSend(answered(200));
    const { callTimes, events } = tBreaker(send);
    await callTimes(15);
    returnsNext(answered(500));
    await callTimes(10);
    expect(events).toEqual([]);
  });

  it('closes with the first probe that succeeds', async () => {
    const { send, sent, returnsNext } = tSend(answered(500));
    const { call, callTimes, events } = tBreaker(send);
    await callTimes(10);
    vi.advanceTimersByTime(1_000);
    expect(await call()).toEqual(answered(500));
    expect(await call()).toEqual(shed);
    vi.advanceTimersByTime(2_000);
    returnsNext(answered(200));
    expect(await call()).toEqual(answered(200));
    expect(await call()).toEqual(answered(200));
    expect(events).toEqual(['open /thing', 'open /thing', 'closed /thing']);
    expect(sent).toHaveLength(13);
  });

  it.each<[string, Answered | Failed]>([
    ['succeeds', answered(200)],
    ['has a response that is too large: the service works', failed('too-large')],
  ])('closes with a probe that %s, and lets no caller wait for it', async (_, outcome) => {
    const { call, held, events } = await tProbe();
    const probe = call();
    expect(await call()).toEqual(shed);
    expect(held).toHaveLength(11);
    held[10]?.returns(outcome);
    expect(await probe).toEqual(outcome);
    expect(events).toEqual(['open /thing', 'closed /thing']);
  });

  it('stays open when the allowance is exhausted during a probe: nothing was sent', async () => {
    let isLeft = true;
    const reserve = () => (isLeft ? reserved : exhausted);
    const { call, callTimes, events } = tBreaker(tSend(answered(500)).send, { allowance: { reserve } });
    await callTimes(10);
    vi.advanceTimersByTime(1_000);
    isLeft = false;
    expect(await call()).toEqual(exhausted);
    expect(events).toEqual(['open /thing', 'open /thing']);
    expect(await call()).toEqual(shed);
  });

  it('stays open when the caller of a probe aborts', async () => {
    const { call } = await tProbe();
    const caller = new AbortController();
    const probe = call(get.path, caller.signal);
    caller.abort();
    await expect(probe).rejects.toThrow('aborted');
    expect(await call()).toEqual(shed);
  });

  it('counts a caller who aborts as neither a success nor a failure', async () => {
    const { send, held } = tHeldSend();
    const { call, events } = tBreaker(send);
    const callers = Array.from({ length: 20 }, () => new AbortController());
    const aborted = callers.map(({ signal }) => call(get.path, signal));
    for (const caller of callers) caller.abort();
    for (const { status } of await Promise.allSettled(aborted)) expect(status).toBe('rejected');
    expect(events).toEqual([]);
    const failures = Promise.all(Array.from({ length: 10 }, () => call()));
    for (const { returns } of held) returns(answered(500));
    await failures;
    expect(events).toEqual(['open /thing']);
  });
});

it('counts a call that the allowance refuses as neither a success nor a failure', async () => {
  let isLeft = true;
  const reserve = () => (isLeft ? reserved : exhausted);
  const { call, callTimes, events } = tBreaker(tSend(answered(500)).send, { allowance: { reserve } });
  await callTimes(9);
  isLeft = false;
  await callTimes(50);
  expect(events).toEqual([]);
  isLeft = true;
  await call();
  expect(events).toEqual(['open /thing']);
});
