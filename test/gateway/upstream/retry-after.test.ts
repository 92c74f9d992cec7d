import { beforeEach, describe, expect, it, vi } from 'vitest';

import { readRetryAfter } from '../../../src/base/retry-after.ts';
import { answered, failed, tBreaker, tHeldSend, tSend } from '../../support/gateway/upstream/send.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] });
});

const blocked = (retryAt: Date) => ({ kind: 'blocked', cause: 'allowance', retryAt });

describe('a path that answered 429', () => {
  const inMs = (milliseconds: number) => new Date(Date.now() + milliseconds);

  it('is not called before the date in Retry-After', async () => {
    const retryAt = inMs(60_000);
    const { send, sent, returnsNext } = tSend(answered(429, { retryAt }));
    const { call } = tBreaker(send);
    expect(await call()).toMatchObject({ status: 429 });
    returnsNext(answered(200));
    vi.setSystemTime(retryAt.getTime() - 1);
    expect(await call()).toEqual(blocked(retryAt));
    expect(await call('/other')).toEqual(answered(200));
    expect(sent).toHaveLength(2);
    vi.setSystemTime(retryAt);
    expect(await call()).toEqual(answered(200));
  });

  it('stays blocked although calls that were in flight fail, and is not probed before the date', async () => {
    const { send, held } = tHeldSend();
    const { call, events } = tBreaker(send);
    const outcomes = Promise.all(Array.from({ length: 11 }, () => call()));
    const retryAt = inMs(3_600_000);
    for (const [index, { returns }] of held.entries())
      returns(index === 0 ? answered(429, { retryAt }) : answered(500));
    await outcomes;
    for (let round = 0; round < 6; round += 1) {
      expect(await call()).toEqual(blocked(retryAt));
      vi.advanceTimersByTime(500);
    }
    expect(held).toHaveLength(11);
    expect(events).toEqual([]);
  });

  it('begins with new calls afterwards: those that were not sent do not count', async () => {
    const { send, returnsNext } = tSend(answered(500));
    const { call, callTimes, events } = tBreaker(send);
    await callTimes(9);
    returnsNext(answered(429, { retryAt: inMs(1_000) }));
    await callTimes(21);
    expect(events).toEqual([]);
    vi.advanceTimersByTime(1_000);
    returnsNext(answered(500));
    await callTimes(9);
    expect(events).toEqual([]);
    await call();
    expect(events).toEqual(['open /thing']);
  });

  it('is probed by one call a minute where Retry-After is far away', async () => {
    const { send, held } = tHeldSend();
    const { call } = tBreaker(send);
    const at = inMs(2_592_000_000);
    const rejected = call();
    held[0]?.returns(answered(429, { retryAt: at }));
    await rejected;
    vi.advanceTimersByTime(59_999);
    expect(await call()).toEqual(blocked(at));
    vi.advanceTimersByTime(1);
    const probe = call();
    expect(await Promise.all([call(), call()])).toEqual(Array(2).fill(blocked(at)));
    expect(held).toHaveLength(2);
    held[1]?.returns(answered(200));
    expect(await probe).toEqual(answered(200));
    const next = [call(), call()];
    for (const { returns } of held) returns(answered(200));
    expect(await Promise.all(next)).toEqual(Array(2).fill(answered(200)));
  });

  it('stays blocked when the probe is rejected again, or is not answered', async () => {
    const { send, sent, returnsNext } = tSend(answered(429, { retryAt: inMs(2_592_000_000) }));
    const { call, callTimes } = tBreaker(send);
    await call();
    vi.advanceTimersByTime(60_000);
    returnsNext(answered(429));
    await callTimes(3);
    expect(sent).toHaveLength(2);
    vi.advanceTimersByTime(60_000);
    returnsNext(failed('reset'), answered(200));
    await callTimes(3);
    expect(sent).toHaveLength(3);
    vi.advanceTimersByTime(60_000);
    await callTimes(3);
    expect(sent).toHaveLength(6);
  });

  it('stays blocked when calls that were in flight are answered', async () => {
    const { send, held } = tHeldSend();
    const { call } = tBreaker(send);
    const outcomes = [call(), call()];
    const retryAt = inMs(60_000);
    held[0]?.returns(answered(429, { retryAt }));
    await outcomes[0];
    held[1]?.returns(answered(200));
    await outcomes[1];
    expect(await call()).toEqual(blocked(retryAt));
  });
});

describe('Retry-After', () => {
  it.each([
    ['120', '2026-11-21T12:02:00.000Z'],
    ['0', '2026-11-21T12:00:00.000Z'],
    [' 5 ', '2026-11-21T12:00:05.000Z'],
    [['30', '60'], '2026-11-21T12:00:30.000Z'],
    ['Tue, 01 Dec 2026 00:00:00 GMT', '2026-12-01T00:00:00.000Z'],
    // Dates that cannot be right: at most 31 days, and none in the past.
    ['2678401', '2026-12-22T12:00:00.000Z'],
    ['999999999', '2026-12-22T12:00:00.000Z'],
    ['99999999999999', '2026-12-22T12:00:00.000Z'],
    ['Sat, 03 Aug 2058 00:00:00 GMT', '2026-12-22T12:00:00.000Z'],
    ['Sat, 21 Nov 2015 00:00:00 GMT', '2026-11-21T12:00:00.000Z'],
  ])('is read from %j', (header, at) => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21T12:00:00Z') });
    expect(readRetryAfter(header)?.toISOString()).toBe(at);
  });

  it.each(['', 'soon', '-5', '1e3', '+5', '5.5', 'Sat, 99 Nov 2026 00:00:00 GMT'])(
    'is null where the header is %j',
    (header) => {
      expect(readRetryAfter(header)).toBeNull();
    },
  );
});
