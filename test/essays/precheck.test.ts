import { expect, it, vi } from 'vitest';
import { withOrderPrecheck } from '../../src/essays/precheck.ts';
import { tRequestContext } from '../request-context.ts';
import { order, tGenerator } from './generator.ts';

it.each([
  ['empty', '', 'idempotencyKey is empty; omit it or choose a unique one, such as a UUID.'],
  ['longer than 200 characters', 'k'.repeat(201), 'idempotencyKey must have at most 200 characters.'],
])('rejects an idempotency key that is %s, without a call', async (_, idempotencyKey, message) => {
  const { generator, calls } = tGenerator();
  const result = await withOrderPrecheck(generator).generate({ ...order, idempotencyKey }, tRequestContext());
  expect(result).toEqual({ kind: 'invalid-input', field: 'idempotencyKey', message });
  expect(calls).toHaveLength(0);
});

it.each(['k', 'k'.repeat(200), null])('accepts the idempotency key %j', (idempotencyKey) => {
  const { generator, calls } = tGenerator();
  const beforeSend = vi.fn();
  void withOrderPrecheck(generator).generate({ ...order, idempotencyKey }, tRequestContext(), beforeSend);
  expect(calls).toHaveLength(1);
  expect(beforeSend).toHaveBeenCalledTimes(1);
});
