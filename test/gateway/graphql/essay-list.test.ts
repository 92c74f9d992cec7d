import { execute, parse } from 'graphql';
import { expect, it } from 'vitest';
import type { Services } from '../../../src/gateway/graphql/schema/context.ts';
import { schema } from '../../../src/gateway/graphql/schema/schema.ts';
import { tCaller } from '../../support/caller.ts';
import { ann, countReads, storeOrders, tOrders } from '../../support/gateway/essays/orders.ts';
import { tContext } from '../../support/gateway/graphql/outcomes.ts';
import { repeat } from '../../support/gateway/graphql/repeat.ts';
import { tServices } from '../../support/gateway/graphql/scripted-services.ts';
import { createMemoryStore } from '../../support/gateway/stores/memory-store.ts';

/* What `essayOrders` reads, however often a query asks for it. */

/** A caller with so many orders that have ended; each finished one has an essay. */
async function tList(kind: 'finished' | 'cancelled', count: number, listedOrders = 2_000) {
  const store = createMemoryStore();
  await storeOrders(store, kind, count, { ...ann, id: tCaller.id });
  const { orders } = tOrders({ store });
  const services: Services = { ...tServices(), essayOrders: orders };
  services.limits = { ...services.limits, listedOrders };
  const reads = countReads(store);
  const essays: string[] = [];
  const { find } = services.essayArchive;
  services.essayArchive = {
    find: (id, context) => {
      essays.push(id);
      return find(id, context);
    },
  };
  return {
    ask: (text: string) =>
      Promise.resolve(execute({ schema, document: parse(text), contextValue: tContext(services) })),
    reads,
    essays,
    close: orders.stop,
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
  const { ask, reads, close } = await tList('cancelled', 500, 100);
  const after = (number: number) => Buffer.from(`offset:${number}`).toString('base64url');
  const { data, errors } = await ask(`{
    newest: essayOrders(state: QUEUED) { nodes { id } pageInfo { hasNextPage endCursor } }
    older: essayOrders(first: 1, after: "${after(301)}") { nodes { id } }
    oldest: essayOrders(first: 1, after: "${after(101)}") { nodes { id } }
  }`);
  const pageInfo = { hasNextPage: true, endCursor: expect.any(String) };
  const older = { nodes: [{ id: 'cancelled-299' }] };
  expect(data).toEqual({ newest: { nodes: [], pageInfo }, older, oldest: null });
  expect(errors).toMatchObject([{ path: ['oldest'], message: expect.stringContaining('at most 100 orders') }]);
  expect(reads.entries()).toBe(100);
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
