import { setImmediate } from 'node:timers/promises';
import { execute, parse } from 'graphql';
import { expect, it } from 'vitest';
import type { Services } from '../../../src/gateway/graphql/schema/context.ts';
import type { QueryLimits } from '../../../src/gateway/graphql/schema/query-limits.ts';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { tCaller } from '../../support/gateway/callers.ts';
import { ann, countReads, storeOrders, tOrders } from '../../support/gateway/essays/orders.ts';
import { repeat, tContext } from '../../support/gateway/graphql/documents.ts';
import { tServices } from '../../support/gateway/graphql/scripted-services.ts';
import { createMemoryStore } from '../../support/gateway/stores/memory-store.ts';

/* What a query reads of the store, however often it asks for it. */

/** A caller with so many orders that have ended; each finished one has an essay. */
async function tList(kind: 'finished' | 'cancelled', count: number, limits: Partial<QueryLimits> = {}, text?: string) {
  const store = createMemoryStore();
  await storeOrders(store, kind, count, { ...ann, id: tCaller.id }, text);
  const { orders } = tOrders({ store });
  const services: Services = tServices();
  services.limits = { ...services.limits, listedOrders: 2_000, ...limits };
  const reads = countReads(store);
  const essays: string[] = [];
  const scripted = services.essays;
  orders.findEssay = (id, callerId) => {
    essays.push(id);
    return scripted.findEssay(id, callerId);
  };
  services.essays = orders;
  return {
    ask: (text: string) =>
      Promise.resolve(execute({ schema, document: parse(text), contextValue: tContext(services) })),
    reads,
    essays,
    close: () => orders.stop(),
  };
}

it('reads each order once for 100 aliases that search 2,000 orders for a state', async () => {
  const { ask, reads, close } = await tList('cancelled', 2_000);
  const field = 'essayOrders(first: 1, state: QUEUED) { nodes { id } pageInfo { hasNextPage } }';
  const { data, errors } = await ask(`{ ${repeat(100, (index) => `a${index}: ${field}`)} }`);
  expect(errors).toBeUndefined();
  expect(Object.values(data ?? {})).toEqual(Array(100).fill({ nodes: [], pageInfo: { hasNextPage: false } }));
  expect(reads.entries()).toBe(2_000);
  expect(reads.records()).toBe(2_000);
  await close();
});

it('reads at most so many orders for all pages of a query, and says which field it has not answered', async () => {
  const { ask, reads, close } = await tList('cancelled', 500, { listedOrders: 20 });
  const { data, errors } = await ask(`{
    newest: essayOrders(state: QUEUED) { nodes { id } pageInfo { hasNextPage endCursor } }
    older: essayOrders(first: 1, after: "${cursorOf(301)}") { nodes { id } }
    oldest: essayOrders(first: 1, after: "${cursorOf(101)}") { nodes { id } }
  }`);
  const pageInfo = { hasNextPage: true, endCursor: expect.any(String) };
  const older = { nodes: [{ id: 'cancelled-299' }] };
  expect(data).toEqual({ newest: { nodes: [], pageInfo }, older, oldest: null });
  expect(errors).toMatchObject([{ path: ['oldest'], message: expect.stringContaining('at most 20 orders') }]);
  expect(reads.entries()).toBe(20);
  await close();
});

it('reads each essay once for all aliases', async () => {
  const { ask, essays, close } = await tList('finished', 50);
  const field = 'essayOrders(first: 50) { nodes { state { ... on EssayFinished { essay { wordCount } } } } }';
  const { errors } = await ask(`{ ${repeat(20, (index) => `a${index}: ${field}`)} }`);
  expect(errors).toBeUndefined();
  expect(essays.toSorted()).toEqual(Array.from({ length: 50 }, (_, index) => `finished-${index}`).toSorted());
  await close();
});

it.each([
  ['node', 'node(id: "finished-0") { id }'],
  ['essayOrder', 'essayOrder(id: "finished-0") { state { __typename } }'],
])('reads an order once for 400 aliases of %s', async (_, field) => {
  const { ask, reads, close } = await tList('finished', 1);
  const { data, errors } = await ask(`{ ${repeat(400, (index) => `a${index}: ${field}`)} }`);
  expect(errors).toBeUndefined();
  expect(new Set(Object.values(data ?? {}).map((value) => JSON.stringify(value))).size).toBe(1);
  expect(reads.records()).toBe(1);
  await close();
});

it.each([
  ['essayOrder', (index: number) => `essayOrder(id: "finished-${index}") { id }`, { answered: 6, read: 6, turns: 6 }],
  ['node', (index: number) => `node(id: "finished-${index}") { id }`, { answered: 6, read: 6, turns: 6 }],
  // Ten at a time.
  [
    'essayOrders',
    (index: number) => `essayOrders(first: 1, after: "${cursorOf(41 - index)}") { nodes { id } }`,
    { answered: 10, read: 10, turns: 1 },
  ],
  // The order is read before and after.
  [
    'cancelEssayOrder',
    (index: number) => `cancelEssayOrder(id: "finished-${index}") { __typename }`,
    { answered: 6, read: 12, turns: 6 },
  ],
  [
    'deleteEssayOrder',
    (index: number) => `deleteEssayOrder(id: "finished-${index}") { __typename }`,
    { answered: 6, read: 6, turns: 6 },
  ],
])('reads as many bytes for aliases of %s as one query may, in several turns', async (name, field, expected) => {
  const { ask, reads, close } = await tList('finished', 40, { storedBytes: 300_000 }, 'x'.repeat(49_000));
  let turns = 0;
  let hasEnded = false;
  const countTurns = async () => {
    for (; !hasEnded; turns += 1) await setImmediate();
  };
  const counting = countTurns();
  const fields = repeat(40, (index) => `a${index}: ${field(index)}`);
  const { data, errors } = await ask(`${/^(cancel|delete)/.test(name) ? 'mutation' : 'query'} { ${fields} }`);
  hasEnded = true;
  await counting;
  const answered = Object.values(data ?? {}).filter((value) => value !== null).length;
  expect({ answered, read: reads.records() }).toEqual({ answered: expected.answered, read: expected.read });
  expect(turns).toBeGreaterThanOrEqual(expected.turns);
  expect(new Set(errors?.map(({ message }) => message))).toEqual(
    new Set(['A query may read at most 300000 bytes of stored orders and essays; read the others in another query.']),
  );
  await close();
});

function cursorOf(number: number): string {
  return Buffer.from(`offset:${number}`).toString('base64url');
}
