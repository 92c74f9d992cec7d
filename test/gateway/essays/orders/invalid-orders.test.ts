import { expect, it } from 'vitest';
import type { EssayFieldProblem, InvalidEssayInput, OrderInput } from '../../../../src/gateway/essays/port.ts';
import { order, tEssay } from '../../../support/gateway/essays/generator.ts';
import { ann, from, tOrders, tProcess, useFakeTime } from '../../../support/gateway/essays/orders.ts';

useFakeTime();

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
  const { generate, calls, outcomes } = tProcess();
  const { message } = problem;
  expect(await generate({ ...order, ...changes }, from())).toEqual({
    kind: 'invalid-input',
    message,
    problems: [{ field, ...problem }],
  });
  expect(calls).toHaveLength(0);
  expect(outcomes).toEqual(['rejected']);
});

it.each<Partial<OrderInput>>([
  { idempotencyKey: 'k' },
  { idempotencyKey: 'k'.repeat(200) },
  { idempotencyKey: null },
  { description: 'd'.repeat(10_000), titles: Array(20).fill('t'.repeat(200)) },
])('accepts texts up to their limits: %#', async (changes) => {
  const { start, calls } = tProcess();
  const { result } = await start({ ...order, ...changes });
  expect(calls).toHaveLength(1);
  const essay = tEssay();
  calls[0]?.answer(essay);
  expect(await result).toEqual(essay);
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
  const { generate, calls } = tProcess();
  expect(await generate({ ...order, ...invalid }, from())).toMatchObject({
    kind: 'invalid-input',
    message,
    problems,
  });
  expect(calls).toHaveLength(0);
});

it('reports an empty key with all other problems of an order that is started', async () => {
  const { orders, calls, outcomes } = tOrders();
  const started = await orders.start({ ...order, description: '', wordCount: 0, idempotencyKey: '' }, ann);
  expect(started).toMatchObject({ kind: 'invalid-input' });
  const { problems = [] } = started as Partial<InvalidEssayInput>;
  expect(problems.map(({ field }) => field)).toEqual(['description', 'wordCount', 'idempotencyKey']);
  expect(calls).toHaveLength(0);
  expect(outcomes).toEqual(['rejected']);
  await orders.stop();
});
