import { useCallback, useEffect, useRef, useState } from 'react';
import type { Failure } from '../failure.ts';
import type { GenerateEssayInput, OrderOutcomeFragment } from '../gql/graphql.ts';
import { type StoredOrder, storedOrder } from './stored-order.ts';

export type OrderInput = Omit<GenerateEssayInput, 'idempotencyKey' | 'orderAgain' | 'titles'>;
export type SentOrder = { outcome: OrderOutcomeFragment } | { failure: Failure };
type OrderState = 'idle' | 'running' | SentOrder;

export interface EssayOrder {
  state: OrderState;
  /** The last order, restored after a reload. */
  lastInput: OrderInput | null;
  /** When the running order was sent, in milliseconds since 1970. */
  sentAt: number;
  /** The same order was submitted again, after its essay was written or a final failure: it is sent only after `confirm`. */
  isRepeated: boolean;
  submit(input: OrderInput): void;
  /** Orders a second essay. */
  confirm(): void;
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
  const [sentAt, setSentAt] = useState(() => storedOrder.read()?.sentAt ?? 0);
  const [isRepeated, setIsRepeated] = useState(false);
  const isResumed = useRef(false);

  const run = useCallback(
    async (order: StoredOrder) => {
      storedOrder.write({ ...order, isOpen: true });
      setIsRepeated(false);
      setSentAt(order.sentAt);
      setState('running');
      const sent = await send(order.input);
      if ('outcome' in sent && !isEssay(sent)) storedOrder.write({ ...order, isOpen: false });
      setState(sent);
    },
    [send],
  );

  useEffect(() => {
    const stored = storedOrder.read();
    // React's strict mode runs effects twice.
    if (isResumed.current || !stored?.isOpen) return;
    isResumed.current = true;
    void run(stored);
  }, [run]);

  const runNow = (input: StoredOrder['input']) => void run({ input, sentAt: Date.now(), isOpen: true });
  const runNew = (input: OrderInput) => runNow({ ...input, idempotencyKey: crypto.randomUUID() });

  return {
    state,
    lastInput,
    sentAt,
    isRepeated,
    submit(input) {
      const stored = storedOrder.read();
      // A different order needs a new key; retries of a failed order reuse its key.
      if (stored === null || !isSameInput(stored.input, input)) runNew(input);
      else if (isEssay(state) || isFinal(state)) setIsRepeated(true);
      else runNow(stored.input);
    },
    confirm() {
      const stored = storedOrder.read();
      if (stored) runNew(stored.input);
    },
    retry() {
      const stored = storedOrder.read();
      if (stored) runNow(stored.input);
    },
  };
}

export function isEssay(state: OrderState): boolean {
  return typeof state === 'object' && 'outcome' in state && state.outcome.__typename === 'Essay';
}

/** With the same key, the gateway would return the same failure, for example after it has crashed. */
function isFinal(state: OrderState): boolean {
  if (typeof state !== 'object' || !('outcome' in state)) return false;
  return state.outcome.__typename === 'EssayServiceFailed' && !state.outcome.retryable;
}

function isSameInput(a: OrderInput, b: OrderInput): boolean {
  return a.description === b.description && a.mode === b.mode && a.purpose === b.purpose && a.wordCount === b.wordCount;
}
