import { useCallback } from 'react';
import { useMutation } from 'urql';
import { EssayForm } from '../components/essay-form.tsx';
import { OrderEssay, OrderOutcome } from '../documents.ts';
import { unreachable } from '../failure.ts';
import { readFragment } from '../gql/index.ts';
import type { StoredOrder } from '../state/stored-order.ts';
import { type SentOrder, useEssayOrder } from '../state/use-essay-order.ts';
import { readFailure } from './read-failure.ts';

export function UrqlEssayForm() {
  const [, orderEssay] = useMutation(OrderEssay);
  const send = useCallback(
    async (input: StoredOrder['input']): Promise<SentOrder> => {
      const { data, error } = await orderEssay({ input });
      if (!data) return { failure: readFailure(error) ?? unreachable };
      return { outcome: readFragment(OrderOutcome, data.generateEssay) };
    },
    [orderEssay],
  );
  return <EssayForm order={useEssayOrder(send)} />;
}
