import { expect, it } from 'vitest';
import { AbortableSignal } from '../../src/async/signal.ts';
import { settleItems } from '../../src/graphql/schema/settle-items.ts';

it('returns the items in their order, however and whenever they settle', async () => {
  const resolvers = [
    // A turn later: until then, nothing else handles the rejection of another item.
    () => new Promise((resolve) => setImmediate(resolve, 'last')),
    () => Promise.resolve().then(() => 'late'),
    () => 'at once',
    () => Promise.reject(new Error('rejected')),
    () => {
      throw new Error('thrown');
    },
    () => Promise.resolve('soon'),
  ];
  const items = await settleItems<() => unknown, unknown>(resolvers, (resolve) => resolve(), new AbortableSignal());
  expect(items).toEqual(['last', 'late', 'at once', new Error('rejected'), new Error('thrown'), 'soon']);
});

it.each([[[]], [['a', 'b']]])('returns %j, for which nothing is waited', async (inputs) => {
  expect(await settleItems(inputs, (input) => input, new AbortableSignal())).toEqual(inputs);
});

it('rejects once the client has left, and does not wait for the other items', async () => {
  const signal = new AbortableSignal();
  const items = settleItems(
    [new Promise((_, reject) => setImmediate(reject, new Error('left'))), new Promise(() => {})],
    (item) => item,
    signal,
  );
  signal.abort(new Error('left'));
  await expect(items).rejects.toThrow('left');
});
