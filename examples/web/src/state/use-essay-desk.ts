import { useCallback, useEffect, useRef, useState } from 'react';
import type { Failure } from '../failure.ts';
import type { GenerateEssayInput, OrderOutcomeFragment } from '../gql/graphql.ts';
import { type KeptOrder, keptOrder } from './kept-order.ts';

export type OrderInput = Omit<GenerateEssayInput, 'idempotencyKey' | 'titles'>;
export type SentOrder = { outcome: OrderOutcomeFragment } | { failure: Failure };
export type DeskState = 'idle' | 'running' | SentOrder;

export interface EssayDesk {
  state: DeskState;
  /** What was ordered last, also before a reload. */
  lastInput: OrderInput | null;
  order(input: OrderInput): void;
  /** The same order under the same key. */
  orderAgain(): void;
}

/**
 * Orders essays so that each is paid for once: the order and its idempotency key are kept before it is sent, and whatever
 * interrupts the answer (a reload, a lost connection), the same order goes out again under the same key.
 * @param send orders an essay; never rejects
 */
export function useEssayDesk(send: (input: KeptOrder['input']) => Promise<SentOrder>): EssayDesk {
  const [state, setState] = useState<DeskState>(() => (keptOrder.read()?.isOpen ? 'running' : 'idle'));
  const [lastInput] = useState(() => keptOrder.read()?.input ?? null);
  const isResumed = useRef(false);

  const run = useCallback(
    async (input: KeptOrder['input']) => {
      keptOrder.write({ input, isOpen: true });
      setState('running');
      const sent = await send(input);
      if ('outcome' in sent && sent.outcome.__typename !== 'Essay') keptOrder.write({ input, isOpen: false });
      setState(sent);
    },
    [send],
  );

  useEffect(() => {
    const kept = keptOrder.read();
    // React's strict mode runs effects twice.
    if (isResumed.current || !kept?.isOpen) return;
    isResumed.current = true;
    void run(kept.input);
  }, [run]);

  return {
    state,
    lastInput,
    order(input) {
      const kept = keptOrder.read();
      const isWritten = state !== 'idle' && state !== 'running' && 'outcome' in state && isEssay(state.outcome);
      // Another order needs another name; the same one after a failure keeps it.
      const isSame = kept !== null && !isWritten && isSameInput(kept.input, input);
      void run(isSame ? kept.input : { ...input, idempotencyKey: crypto.randomUUID() });
    },
    orderAgain() {
      const kept = keptOrder.read();
      if (kept) void run(kept.input);
    },
  };
}

function isEssay({ __typename }: OrderOutcomeFragment): boolean {
  return __typename === 'Essay';
}

function isSameInput(a: OrderInput, b: OrderInput): boolean {
  return a.description === b.description && a.mode === b.mode && a.purpose === b.purpose && a.wordCount === b.wordCount;
}
