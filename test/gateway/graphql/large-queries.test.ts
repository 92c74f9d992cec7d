import { afterEach, expect, test, vi } from 'vitest';
import { AbortableSignal } from '../../../src/base/async/signal.ts';
import { createLargeQueryTurns } from '../../../src/gateway/graphql/request/graphql-handler.ts';

afterEach(() => void vi.useRealTimers());

test('executes four large queries at a time, and the next when one has ended', async () => {
  const { begin, begun, end } = tTurns();
  const queries = Array.from({ length: 6 }, begin);
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 2, 3]));
  end(1);
  await queries[1];
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 2, 3, 4]));
  for (const index of queries.keys()) end(index);
  expect(await Promise.all(queries)).toEqual([0, 1, 2, 3, 4, 5]);
});

test('returns the turn of a query that fails', async () => {
  const { takeTurn } = createLargeQueryTurns();
  const fail = () => Promise.reject(new Error('failed'));
  for (let query = 0; query < 5; query += 1)
    await expect(takeTurn(new AbortableSignal(), fail)).rejects.toThrow('failed');
  expect(await takeTurn(new AbortableSignal(), () => 'executed')).toBe('executed');
});

test('executes a query without a turn after 250 ms, or when its client leaves', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  const { begin, begun, end, signals } = tTurns();
  const queries = Array.from({ length: 6 }, begin);
  await vi.advanceTimersByTimeAsync(249);
  expect(begun).toEqual([0, 1, 2, 3]);
  signals[5]?.abort(new Error('disconnected'));
  await vi.advanceTimersByTimeAsync(0);
  expect(begun).toEqual([0, 1, 2, 3, 5]);
  await vi.advanceTimersByTimeAsync(1);
  expect(begun).toEqual([0, 1, 2, 3, 5, 4]);
  for (const index of queries.keys()) end(index);
  await Promise.all(queries);
});

/** Queries that last until `end` is called with their number. */
function tTurns() {
  const { takeTurn } = createLargeQueryTurns();
  const begun: number[] = [];
  const signals: AbortableSignal[] = [];
  const ends: (() => void)[] = [];
  const ended: Promise<void>[] = [];
  return {
    begun,
    signals,
    end: (query: number) => ends[query]?.(),
    begin() {
      const query = signals.push(new AbortableSignal()) - 1;
      ended.push(new Promise((resolve) => ends.push(resolve)));
      return takeTurn(signals[query] as AbortableSignal, async () => {
        begun.push(query);
        await ended[query];
        return query;
      });
    },
  };
}
