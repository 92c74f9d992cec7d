import { useCallback, useEffect, useRef, useState } from 'react';
import type { Failure } from '../failure.ts';
import type { GenerateEssayInput, OrderOutcomeFragment } from '../gql/graphql.ts';
import { type StoredOrder, storedOrder } from './stored-order.ts';

export type OrderInput = Omit<GenerateEssayInput, 'idempotencyKey' | 'titles'>;
export type SentOrder = { outcome: OrderOutcomeFragment } | { failure: Failure };
type OrderState = 'idle' | 'running' | SentOrder;

export interface EssayOrder {
  state: OrderState;
  /** The last order, restored after a reload. */
  lastInput: OrderInput | null;
  submit(input: OrderInput): void;
  /** Sends the same order with the same key. */
  retry(): void;
}

/**
 * Orders essays so that each is paid for once: stores the order with its idempotency key before sending it. After a
 * reload or a lost connection, the same order is sent again with the same key.
 * @param send orders an essay; never rejects
 */
export function useEssayOrder(send: (input: StoredOrder['input']) => Promise<SentOrder>): EssayOrder {
  const [state, setState] = useState<OrderState>(() => (storedOrder.read()?.isOpen ? 'running' : 'idle'));
  const [lastInput] = useState(() => storedOrder.read()?.input ?? null);
  const isResumed = useRef(false);

  const run = useCallback(
    async (input: StoredOrder['input']) => {
      storedOrder.write({ input, isOpen: true });
      setState('running');
      const sent = await send(input);
      if ('outcome' in sent && sent.outcome.__typename !== 'Essay') storedOrder.write({ input, isOpen: false });
      setState(sent);
    },
    [send],
  );

  useEffect(() => {
    const stored = storedOrder.read();
    // React's strict mode runs effects twice.
    if (isResumed.current || !stored?.isOpen) return;
    isResumed.current = true;
    void run(stored.input);
  }, [run]);

  return {
    state,
    lastInput,
    submit(input) {
      const stored = storedOrder.read();
      const isWritten = state !== 'idle' && state !== 'running' && 'outcome' in state && isEssay(state.outcome);
      // Retries of a failed order reuse its key; a different order needs a new one.
      const isRetry = stored !== null && !isWritten && isSameInput(stored.input, input);
      void run(isRetry ? stored.input : { ...input, idempotencyKey: crypto.randomUUID() });
    },
    retry() {
      const stored = storedOrder.read();
      if (stored) void run(stored.input);
    },
  };
}

function isEssay({ __typename }: OrderOutcomeFragment): boolean {
  return __typename === 'Essay';
}

function isSameInput(a: OrderInput, b: OrderInput): boolean {
  return a.description === b.description && a.mode === b.mode && a.purpose === b.purpose && a.wordCount === b.wordCount;
}
