import { expect, it } from 'vitest';
import type { Allowance } from '../../../src/upstream/allowance/allowance.ts';
import { withAllowance } from '../../../src/upstream/allowance/with-allowance.ts';
import { withRetries } from '../../../src/upstream/retries.ts';
import { tCaller } from '../../request-context.ts';
import { answers, fails, get, post, tClient, tSlowClient } from '../send.ts';
import { monthHeaders, tAllowance } from './allowance.ts';

const usedOf = async (allowance: Allowance) => (await allowance.status()).used;

it('counts a call before it is sent', async () => {
  const { client, held } = tSlowClient();
  const allowance = tAllowance();
  const call = withAllowance(client, allowance).send(get, tCaller());
  while (held.length === 0) await Promise.resolve();
  expect(await usedOf(allowance)).toBe(1);
  held[0]?.answer(answers(200));
  expect(await call).toEqual(answers(200));
  expect(await usedOf(allowance)).toBe(1);
});

it.each([
  answers(200),
  answers(422),
  answers(429),
  answers(500),
  answers(503),
  fails('reset'),
  fails('truncated'),
  fails('too-large'),
  fails('timed-out'),
])('keeps count of a call that came to %j: it may have been charged', async (outcome) => {
  const allowance = tAllowance();
  expect(await withAllowance(tClient(outcome).client, allowance).send(post, tCaller())).toEqual(outcome);
  expect(await usedOf(allowance)).toBe(1);
});

it.each([fails('unreachable'), fails('shed')])('gives back a call that never left: %j', async (outcome) => {
  const allowance = tAllowance();
  expect(await withAllowance(tClient(outcome).client, allowance).send(post, tCaller())).toEqual(outcome);
  expect(await usedOf(allowance)).toBe(0);
});

it('counts retries', async () => {
  const allowance = tAllowance();
  const client = withAllowance(tClient(answers(500), answers(500), answers(200)).client, allowance);
  await withRetries(client, { timeoutMs: 1_000, backoffMs: 0 }).send(get, tCaller());
  expect(await usedOf(allowance)).toBe(3);
});

it('answers when nothing is left, without a call, when the next month begins', async () => {
  const { client, sent } = tClient(answers(200));
  const { send } = withAllowance(client, tAllowance({ limit: 2 }));
  const outcomes = await Promise.all(Array.from({ length: 5 }, () => send(get, tCaller())));
  expect(sent).toHaveLength(2);
  expect(outcomes.filter((outcome) => outcome.kind === 'answer' && outcome.status === 200)).toHaveLength(2);
  expect(outcomes[4]).toMatchObject({
    kind: 'answer',
    status: 429,
    headers: { 'retry-after': 'Tue, 01 Dec 2026 00:00:00 GMT' },
    text: '',
    json: undefined,
  });
});

it('learns from the headers of every answer', async () => {
  const { client, sent } = tClient(answers(200, { headers: monthHeaders(100, 1) }), answers(200));
  const { send } = withAllowance(client, tAllowance({ limit: null }));
  for (let call = 0; call < 4; call++) await send(get, tCaller());
  expect(sent).toHaveLength(2);
});

it('gives back what a caller took who leaves before it is sent', async () => {
  const { client, sent } = tClient(answers(200));
  const allowance = tAllowance();
  const { send } = withAllowance(client, allowance);
  const leaver = new AbortController();
  const call = send(get, tCaller(leaver.signal));
  leaver.abort();
  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  await expect(send(get, tCaller(AbortSignal.abort()))).rejects.toMatchObject({ name: 'AbortError' });
  expect(sent).toHaveLength(0);
  expect(await usedOf(allowance)).toBe(0);
});

it('keeps count of a call whose caller leaves while it is under way', async () => {
  const { client, held } = tSlowClient();
  const allowance = tAllowance();
  const leaver = new AbortController();
  const call = withAllowance(client, allowance).send(post, tCaller(leaver.signal));
  while (held.length === 0) await Promise.resolve();
  leaver.abort();
  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  expect(await usedOf(allowance)).toBe(1);
});
