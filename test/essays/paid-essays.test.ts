import { expect, it } from 'vitest';
import type { EssayOrder } from '../../src/essays/essays.ts';
import { withOrderPrecheck } from '../../src/essays/paid-essays.ts';
import { failed, order } from '../support/essays/generator.ts';
import { tRequestContext } from '../support/request-context.ts';

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
  const problem = { field: 'idempotencyKey', message };
  expect(result).toEqual({ kind: 'invalid-input', ...problem, problems: [problem] });
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
  const problem = { field, message };
  expect(result).toEqual({ kind: 'invalid-input', ...problem, problems: [problem] });
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

it('reports all invalid fields at once, without a call', async () => {
  const { calls, generate } = tOrders();
  const invalid = { ...order, description: ' ', wordCount: 0, titles: ['', 't'.repeat(201)], idempotencyKey: '' };
  const problems = [
    { field: 'description', message: 'description must not be empty; describe the topic and the points to cover.' },
    { field: 'wordCount', message: 'wordCount is 0; it must be from 1 to 2000.' },
    { field: 'titles', message: 'titles must have at most 200 characters.' },
    { field: 'titles', message: 'titles must not contain an empty title; remove or replace it.' },
    { field: 'idempotencyKey', message: 'idempotencyKey is empty; omit it or choose a unique one, such as a UUID.' },
  ];
  const message = problems.map((problem) => problem.message).join(' ');
  const result = await withOrderPrecheck({ generate }, events).generate(invalid, tRequestContext());
  expect(result).toEqual({ kind: 'invalid-input', field: null, message, problems });
  expect(calls).toHaveLength(0);
});
