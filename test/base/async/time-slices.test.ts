import { expect, it, vi } from 'vitest';
import { createTimeSlices } from '../../../src/base/async/time-slices.ts';

it('lets others run after each slice, and keeps the order and the errors of its pieces', async () => {
  let now = 1_000;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const inSlice = createTimeSlices(4);
  const order: string[] = [];
  const piece = (name: string) =>
    inSlice(() => {
      order.push(name);
      now += 3;
      if (name === 'second') throw new Error('a fault');
      return name;
    });
  const results = Promise.allSettled(['first', 'second', 'third', 'fourth'].map(piece));
  // Waiting takes no time of a slice.
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const waiting = inSlice(() => ended);
  const after = inSlice(() => 'after');
  const others = (async () => {
    for (const turn of ['turn', 'turn', 'turn']) {
      await new Promise((resolve) => setImmediate(resolve));
      order.push(turn);
    }
  })();
  expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled']);
  await others;
  expect(await after).toBe('after');
  end();
  await waiting;
  // Two pieces of 3 ms are more than 4 ms.
  const withoutTurns = order.filter((name) => name !== 'turn');
  expect(withoutTurns).toEqual(['first', 'second', 'third', 'fourth']);
  expect(order.indexOf('turn')).toBeLessThan(order.indexOf('third'));
});
