import { expect, it } from 'vitest';
import { withPrecheck } from '../../src/essays/precheck.ts';
import { tCaller } from '../request-context.ts';
import { order, tWriter } from './writer.ts';

it.each([
  ['empty', ''],
  ['longer than 200 characters', 'k'.repeat(201)],
])('refuses an idempotency key that is %s, without a call', async (_, idempotencyKey) => {
  const { essays, calls } = tWriter();
  const result = await withPrecheck(essays).generate({ ...order, idempotencyKey }, tCaller());
  expect(result).toMatchObject({ kind: 'invalid-input', field: 'idempotencyKey' });
  expect(calls).toHaveLength(0);
});

it.each(['k', 'k'.repeat(200), null])('lets the idempotency key %j pass', (idempotencyKey) => {
  const { essays, calls } = tWriter();
  void withPrecheck(essays).generate({ ...order, idempotencyKey }, tCaller());
  expect(calls).toHaveLength(1);
});
