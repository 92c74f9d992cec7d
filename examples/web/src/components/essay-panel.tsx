import { useState } from 'react';
import type { EssayClient } from '../state/essay-client.ts';
import { useOrderAddress } from '../state/use-order-address.ts';
import { usePastOrders } from '../state/use-past-orders.ts';
import { EssayForm } from './essay-form.tsx';
import { EssayOrder } from './essay-order.tsx';
import { PastOrders } from './past-orders.tsx';

interface EssayPanelProps {
  essays: EssayClient;
}

/** The form of a new order, or the order in the URL; below, all orders. */
export function EssayPanel({ essays }: EssayPanelProps) {
  const { id, isVisited } = useOrderAddress();
  const [shownState, setShownState] = useState('');
  const past = usePastOrders(essays, `${id} ${shownState}`);
  return (
    <>
      {id === null ? (
        <EssayForm essays={essays} takesFocus={isVisited} />
      ) : (
        <EssayOrder key={id} essays={essays} id={id} takesFocus={isVisited} onState={setShownState} />
      )}
      <PastOrders past={past} shownId={id} />
    </>
  );
}
