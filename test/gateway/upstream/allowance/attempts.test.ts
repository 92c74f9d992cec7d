import { expect, it, vi } from 'vitest';
import type { Allowance } from '../../../../src/gateway/upstream/allowance/allowance.ts';
import type { Answered, Failed } from '../../../../src/gateway/upstream/outcome.ts';
import { tRequestContext } from '../../../support/gateway/callers.ts';
import {
  answered,
  failed,
  monthHeaders,
  post,
  tAllowance,
  tAttempt,
  tClient,
  tHeldSend,
  tSend,
} from '../../../support/gateway/upstream/send.ts';

const usedOf = async (allowance: Allowance) => (await allowance.status())?.used ?? Number.NaN;

it.each<[Answered | Failed, number]>([
  ...[200, 422, 500, 503].map((status): [Answered, number] => [answered(status), 1]),
  ...[401, 402, 403, 429].map((status): [Answered, number] => [answered(status), 0]),
  ...(['reset', 'truncated', 'too-large', 'timed-out'] as const).map((reason): [Failed, number] => [failed(reason), 1]),
  [failed('unreachable'), 0],
])(
  'counts a call that may have been charged, and releases one that was refused or never sent: %j',
  async (outcome, used) => {
    const allowance = tAllowance();
    expect(await tAttempt(tSend(outcome).send, { allowance })(post)).toEqual(outcome);
    expect(await usedOf(allowance)).toBe(used);
  },
);

it('gives a call back that the service has refused, also in the number of the last one', async () => {
  const allowance = tAllowance({ limit: null });
  const { send, sent } = tSend(answered(429, { headers: monthHeaders(100, 0) }));
  const limited = tAttempt(send, { allowance });
  for (let call = 0; call < 4; call++) await limited();
  expect(sent).toHaveLength(1);
  expect(await allowance.status()).toMatchObject({ remaining: 0 });
});

it('counts retries', async () => {
  const allowance = tAllowance();
  const { send } = tSend(answered(500), answered(500), answered(200));
  await tAttempt(send, { allowance, backoffMs: 0 })();
  expect(await usedOf(allowance)).toBe(3);
});

it('records the rate limit that every response reports', async () => {
  const { send, sent } = tSend(answered(200, { headers: monthHeaders(100, 1) }), answered(200));
  const limited = tAttempt(send, { allowance: tAllowance({ limit: null }) });
  for (let call = 0; call < 4; call++) await limited();
  expect(sent).toHaveLength(2);
});

it('releases the reservation of a caller who aborts before the call is sent', async () => {
  const { send, sent } = tSend(answered(200));
  const allowance = tAllowance();
  const caller = new AbortController();
  const outcome = tAttempt(send, { allowance })(undefined, caller.signal);
  caller.abort();
  await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
  expect(sent).toHaveLength(0);
  expect(await usedOf(allowance)).toBe(0);
});

it('counts a call before it is sent, also if its caller aborts while it is in flight', async () => {
  const { send, held } = tHeldSend();
  const allowance = tAllowance();
  const caller = new AbortController();
  const outcome = tAttempt(send, { allowance })(post, caller.signal);
  await vi.waitFor(() => expect(held).toHaveLength(1), { timeout: 100_000 });
  expect(await usedOf(allowance)).toBe(1);
  caller.abort();
  await expect(outcome).rejects.toMatchObject({ name: 'AbortError' });
  expect(await usedOf(allowance)).toBe(1);
});

it('reserves no slot for an order that the allowance refuses', async () => {
  const client = tClient(tSend(answered(200)).send, { allowance: tAllowance({ limit: 0 }) });
  expect(await client.reserve(post, tRequestContext())).toMatchObject({ kind: 'exhausted' });
});

it('releases the reservation of an order that is not sent', async () => {
  const { send, sent } = tSend(answered(200));
  const allowance = tAllowance();
  const client = tClient(send, { allowance });
  const slot = await client.reserve(post, tRequestContext());
  expect([slot.kind, await usedOf(allowance)]).toEqual(['slot', 1]);
  if (slot.kind === 'slot') slot.release();
  expect(sent).toHaveLength(0);
  expect(await usedOf(allowance)).toBe(0);
  expect(client.status()).toEqual({ active: 0, queued: 0 });
});
