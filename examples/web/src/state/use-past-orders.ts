import { useCallback, useEffect, useState } from 'react';
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

  const load = useCallback(
    async (after: string | null, isWanted: () => boolean = () => true) => {
      const answer = await essays.list(after);
      if (!isWanted()) return;
      setFailure('failure' in answer ? answer.failure : null);
      if ('failure' in answer) return;
      const { nodes, pageInfo } = answer.value;
      setOrders((before) => (after === null ? nodes : [...(before ?? []), ...nodes]));
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
