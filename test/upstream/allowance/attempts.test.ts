import { expect, it, vi } from 'vitest';
import type { Allowance } from '../../../src/upstream/allowance/allowance.ts';
import { monthHeaders, tAllowance } from '../../support/upstream/allowance.ts';
import {
  answered,
  failed,
  get,
  post,
  tAttempt,
  tDeadline,
  tHeldSend,
  tRetries,
  tSend,
} from '../../support/upstream/send.ts';

const usedOf = async (allowance: Allowance) => (await allowance.status()).used;

it('counts a call before it is sent', async () => {
  const { send, held } = tHeldSend();
  const allowance = tAllowance();
  const outcome = tAttempt(send, { allowance })(get, tDeadline());
  await vi.waitFor(() => expect(held).toHaveLength(1), { timeout: 20_000 });
  expect(await usedOf(allowance)).toBe(1);
  held[0]?.returns(answered(200));
  expect(await outcome).toEqual(answered(200));
  expect(await usedOf(allowance)).toBe(1);
});

it.each([
  answered(200),
  answered(422),
  answered(429),
  answered(500),
  answered(503),
  failed('reset'),
  failed('truncated'),
  failed('too-large'),
  failed('timed-out'),
])('counts a call with the outcome %j: it may have been charged', async (outcome) => {
  const allowance = tAllowance();
  expect(await tAttempt(tSend(outcome).send, { allowance })(post, tDeadline())).toEqual(outcome);
  expect(await usedOf(allowance)).toBe(1);
});

it('releases a call that was never sent', async () => {
  const allowance = tAllowance();
  const outcome = failed('unreachable');
  expect(await tAttempt(tSend(outcome).send, { allowance })(post, tDeadline())).toEqual(outcome);
  expect(await usedOf(allowance)).toBe(0);
});

it('counts retries', async () => {
  const allowance = tAllowance();
  const { send } = tSend(answered(500), answered(500), answered(200));
  await tRetries(tAttempt(send, { allowance }), 0)(get, tDeadline());
  expect(await usedOf(allowance)).toBe(3);
});

it('sends nothing beyond the allowance, and returns when the next month begins', async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-11-21') });
  const { send, sent } = tSend(answered(200));
  const limited = tAttempt(send, { allowance: tAllowance({ limit: 2 }) });
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => limited(get, tDeadline())));
  expect(sent).toHaveLength(2);
  expect(outcomes.filter(({ kind }) => kind === 'answered')).toHaveLength(2);
  expect(outcomes[4]).toEqual({ kind: 'exhausted', renewsAt: new Date('2026-12-01') });
});

it('records the rate limit that every response reports', async () => {
  const { send, sent } = tSend(answered(200, { headers: monthHeaders(100, 1) }), answered(200));
  const limited = tAttempt(send, { allowance: tAllowance({ limit: null }) });
  for (let call = 0; call < 4; call++) await limited(get, tDeadline());
  expect(sent).toHaveLength(2);
});

it('releases the reservation of a caller who aborts before the call is sent', async () => {
  const { send, sent } = tSend(answered(200));
  const allowance = tAllowance();
  const caller = new AbortController();
  const outcome = tAttempt(send, { allowance })(get, tDeadline(caller.signal));
  caller.abort();
  await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
  expect(sent).toHaveLength(0);
  expect(await usedOf(allowance)).toBe(0);
});

it('counts a call whose caller aborts while it is in flight', async () => {
  const { send, held } = tHeldSend();
  const allowance = tAllowance();
  const caller = new AbortController();
  const outcome = tAttempt(send, { allowance })(post, tDeadline(caller.signal));
  await vi.waitFor(() => expect(held).toHaveLength(1), { timeout: 20_000 });
  caller.abort();
  await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
  expect(await usedOf(allowance)).toBe(1);
});
