import { useEffect, useState } from 'react';
import { type Failure, unreachable } from '../failure.ts';
import type { OrderProgressFragment } from '../gql/graphql.ts';
import { type EssayClient, isEnded } from './essay-client.ts';

export interface WatchedOrder {
  /** Undefined until its first state has arrived; null for an unknown order. */
  order: OrderProgressFragment | null | undefined;
  /** Why it is not watched at the moment; null: it is, or has ended. */
  failure: Failure | null;
}

/** Watches an order until it has ended. If the connection ends before, because a gateway restarts or a proxy cuts it, watches again. */
export function useOrder(essays: EssayClient, id: string): WatchedOrder {
  const [watched, setWatched] = useState<WatchedOrder>({ order: undefined, failure: null });

  useEffect(() => {
    let stop = () => {};
    let timer: ReturnType<typeof setTimeout> | undefined;
    let delayMs = firstDelayMs;
    let isDone = false;

    function watch() {
      let failure = unreachable;
      stop = essays.watch(
        id,
        (answer) => {
          if ('failure' in answer) {
            failure = answer.failure;
            return;
          }
          const order = answer.value;
          isDone = order === null || isEnded(order.state);
          delayMs = firstDelayMs;
          setWatched({ order, failure: null });
        },
        () => {
          if (isDone) return;
          setWatched(({ order }) => ({ order, failure }));
          if (!failure.isRetryable) return;
          timer = setTimeout(watch, delayMs);
          delayMs = Math.min(2 * delayMs, maxDelayMs);
        },
      );
    }

    watch();
    return () => {
      clearTimeout(timer);
      stop();
    };
  }, [essays, id]);

  return watched;
}

const firstDelayMs = 1_000;
const maxDelayMs = 30_000;
