import { expect, it } from 'vitest';
import { withOrderPrecheck } from '../../../src/gateway/essays/paid-essays.ts';
import type { EssayFieldProblem, OrderInput } from '../../../src/gateway/essays/port.ts';
import { failed, order } from '../../support/gateway/essays/generator.ts';
import { tRequestContext } from '../../support/request-context.ts';

/** The precheck in front of a generator that counts its orders. */
async function generate(changes: Partial<OrderInput>) {
  const calls: OrderInput[] = [];
  const generator = {
    async generate(order: OrderInput) {
      calls.push(order);
      return failed;
    },
  };
  const checked = withOrderPrecheck(generator, { essayOrdered: () => {} });
  return { calls, result: await checked.generate({ ...order, ...changes }, tRequestContext()) };
}

it.each<[string, Partial<OrderInput>, Omit<EssayFieldProblem, 'field'>]>([
  [
    'a long key',
    { idempotencyKey: 'k'.repeat(201) },
    {
      reason: 'TOO_LONG',
      range: { min: 1, max: 200 },
      message: 'The idempotency key must have at most 200 characters.',
    },
  ],
  [
    'a long text',
    { description: 'd'.repeat(10_001) },
    {
      reason: 'TOO_LONG',
      range: { min: 1, max: 10_000 },
      message: 'The description must have at most 10000 characters.',
    },
  ],
  [
    'a long title',
    { titles: ['A', 't'.repeat(201)] },
    { reason: 'TOO_LONG', range: { min: 1, max: 200 }, message: 'A title must have at most 200 characters.' },
  ],
  [
    'many titles',
    { titles: Array(21).fill('A') },
    { reason: 'TOO_MANY', range: { min: 0, max: 20 }, message: 'There must be at most 20 titles.' },
  ],
])('rejects %s, without a call', async (_, changes, problem) => {
  const [field] = Object.keys(changes);
  const { calls, result } = await generate(changes);
  const { message } = problem;
  expect(result).toEqual({ kind: 'invalid-input', field, message, problems: [{ field, ...problem }] });
  expect(calls).toHaveLength(0);
});

it.each<Partial<OrderInput>>([
  { idempotencyKey: 'k' },
  { idempotencyKey: 'k'.repeat(200) },
  { idempotencyKey: null },
  { description: 'd'.repeat(10_000), titles: Array(20).fill('t'.repeat(200)) },
])('accepts texts up to their limits: %#', async (changes) => {
  expect((await generate(changes)).calls).toHaveLength(1);
});

it('reports all invalid fields at once, without a call', async () => {
  const problems = [
    { field: 'description', message: 'The description must not be empty; describe the topic and the points to cover.' },
    { field: 'wordCount', message: 'The number of words is 0; it must be from 1 to 2000.' },
    { field: 'titles', message: 'A title must have at most 200 characters.' },
    { field: 'titles', message: 'A title is empty; remove or replace it.' },
    {
      field: 'idempotencyKey',
      message: 'The idempotency key is empty; choose a unique one, such as a UUID.',
    },
  ];
  const message = problems.map((problem) => problem.message).join(' ');
  const invalid = { description: ' ', wordCount: 0, titles: ['', 't'.repeat(201)], idempotencyKey: '' };
  const { calls, result } = await generate(invalid);
  expect(result).toMatchObject({ kind: 'invalid-input', field: null, message, problems });
  expect(calls).toHaveLength(0);
});
