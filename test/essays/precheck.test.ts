import { expect, it } from 'vitest';
import type { EssayOrder } from '../../src/essays/essays.ts';
import { withOrderPrecheck } from '../../src/essays/precheck.ts';
import { tRequestContext } from '../request-context.ts';
import { failed, order } from './generator.ts';

const events = { essayOrdered: () => {} };

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
  const result = await withOrderPrecheck({ generate }, events).generate(
    { ...order, idempotencyKey },
    tRequestContext(),
  );
  expect(result).toEqual({ kind: 'invalid-input', field: 'idempotencyKey', message });
  expect(calls).toHaveLength(0);
});

it.each(['k', 'k'.repeat(200), null])('accepts the idempotency key %j', (idempotencyKey) => {
  const { calls, generate } = tOrders();
  void withOrderPrecheck({ generate }, events).generate({ ...order, idempotencyKey }, tRequestContext());
  expect(calls).toHaveLength(1);
});

it.each([
  ['description', { description: 'd'.repeat(10_001) }, 'description must have at most 10000 characters.'],
  ['titles', { titles: ['A', 't'.repeat(201)] }, 'titles must have at most 200 characters.'],
  ['titles', { titles: Array.from({ length: 21 }, () => 'A') }, 'titles must have at most 20 entries.'],
])('rejects a %s over its limit, without a call', async (field, texts, message) => {
  const { calls, generate } = tOrders();
  const result = await withOrderPrecheck({ generate }, events).generate({ ...order, ...texts }, tRequestContext());
  expect(result).toEqual({ kind: 'invalid-input', field, message });
  expect(calls).toHaveLength(0);
});

it('accepts a description and titles up to their limits', () => {
  const { calls, generate } = tOrders();
  const titles = Array.from({ length: 20 }, () => 't'.repeat(200));
  void withOrderPrecheck({ generate }, events).generate(
    { ...order, description: 'd'.repeat(10_000), titles },
    tRequestContext(),
  );
  expect(calls).toHaveLength(1);
});
