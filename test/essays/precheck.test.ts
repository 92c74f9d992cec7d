import { expect, it } from 'vitest';
import type { EssayOrder } from '../../src/essays/essays.ts';
import { withOrderPrecheck } from '../../src/essays/precheck.ts';
import { tRequestContext } from '../request-context.ts';
import { failed, order } from './generator.ts';

/** A generator that records its orders. */
function tOrders() {
  const calls: EssayOrder[] = [];
  const generate = async (order: EssayOrder) => {
    calls.push(order);
    return failed;
  };
  return { calls, generate };
}

it.each([
  ['empty', '', 'idempotencyKey is empty; omit it or choose a unique one, such as a UUID.'],
  ['longer than 200 characters', 'k'.repeat(201), 'idempotencyKey must have at most 200 characters.'],
])('rejects an idempotency key that is %s, without a call', async (_, idempotencyKey, message) => {
  const { calls, generate } = tOrders();
  const result = await withOrderPrecheck({ generate }).generate({ ...order, idempotencyKey }, tRequestContext());
  expect(result).toEqual({ kind: 'invalid-input', field: 'idempotencyKey', message });
  expect(calls).toHaveLength(0);
});

it.each(['k', 'k'.repeat(200), null])('accepts the idempotency key %j', (idempotencyKey) => {
  const { calls, generate } = tOrders();
  void withOrderPrecheck({ generate }).generate({ ...order, idempotencyKey }, tRequestContext());
  expect(calls).toHaveLength(1);
});
