import { useState } from 'react';
import type { EssayClient } from '../state/essay-client.ts';
import { usePastOrders } from '../state/use-past-orders.ts';
import { EssayForm } from './essay-form.tsx';
import { EssayOrder } from './essay-order.tsx';
import { PastOrders } from './past-orders.tsx';

interface EssayPanelProps {
  essays: EssayClient;
  /** The shown order; null: the form of a new one. */
  orderId: string | null;
  /** Whether the user has come to the order or form from another part of the page. */
  takesFocus: boolean;
}

/** The form of a new order, or the order in the URL; below, all orders. */
export function EssayPanel({ essays, orderId: id, takesFocus }: EssayPanelProps) {
  const [shownState, setShownState] = useState('');
  const past = usePastOrders(essays, `${id} ${shownState}`);
  return (
    <>
      {id === null ? (
        <EssayForm essays={essays} takesFocus={takesFocus} />
      ) : (
        <EssayOrder key={id} essays={essays} id={id} takesFocus={takesFocus} onState={setShownState} />
      )}
      <PastOrders past={past} shownId={id} />
    </>
  );
}
