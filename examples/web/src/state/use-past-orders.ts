import { useCallback, useEffect, useRef, useState } from 'react';
import type { Failure } from '../failure.ts';
import type { EssayClient, OrderPage } from './essay-client.ts';

export interface PastOrders {
  /** The newest first; null until they are loaded. */
  orders: OrderPage['nodes'] | null;
  failure: Failure | null;
  /** Null: all orders are loaded. */
  loadMore: (() => void) | null;
  reload(): void;
}

/** @param version the list is loaded again when it changes */
export function usePastOrders(essays: EssayClient, version: string): PastOrders {
  const [orders, setOrders] = useState<OrderPage['nodes'] | null>(null);
  const [next, setNext] = useState<string | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const previous = useRef<Promise<unknown>>(Promise.resolve());

  const load = useCallback(
    async (after: string | null, isWanted: () => boolean = () => true) => {
      // One after the other: clients share the response of a query in flight, which may be older than the change.
      const loading = previous.current.then(() => (isWanted() ? essays.list(after) : null));
      previous.current = loading.catch(() => {});
      const answer = await loading;
      if (answer === null || !isWanted()) return;
      setFailure('failure' in answer ? answer.failure : null);
      if ('failure' in answer) return;
      const { nodes, pageInfo } = answer.value;
      // A second click on the button may load the same page again.
      const isNew = ({ id }: { id: string }, before: OrderPage['nodes']) => before.every((order) => order.id !== id);
      setOrders((before) =>
        after === null || before === null ? nodes : [...before, ...nodes.filter((order) => isNew(order, before))],
      );
      setNext(pageInfo.hasNextPage ? (pageInfo.endCursor ?? null) : null);
    },
    [essays],
  );

  // biome-ignore lint/correctness/useExhaustiveDependencies: another version means that the list has changed.
  useEffect(() => {
    let isWanted = true;
    void load(null, () => isWanted);
    return () => {
      isWanted = false;
    };
  }, [load, version]);

  return {
    orders,
    failure,
    loadMore: next === null ? null : () => void load(next),
    reload: () => void load(null),
  };
}
