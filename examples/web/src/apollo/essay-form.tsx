import { useMutation } from '@apollo/client/react';
import { useCallback } from 'react';
import { EssayForm } from '../components/essay-form.tsx';
import { OrderEssay, OrderOutcome } from '../documents.ts';
import { unreachable } from '../failure.ts';
import { readFragment } from '../gql/index.ts';
import type { StoredOrder } from '../state/stored-order.ts';
import { type SentOrder, useEssayOrder } from '../state/use-essay-order.ts';
import { readFailure } from './read-failure.ts';

export function ApolloEssayForm() {
  const [orderEssay] = useMutation(OrderEssay, { errorPolicy: 'all' });
  const send = useCallback(
    async (input: StoredOrder['input']): Promise<SentOrder> => {
      const { data, error } = await orderEssay({ variables: { input } });
      if (!data) return { failure: readFailure(error) ?? unreachable };
      return { outcome: readFragment(OrderOutcome, data.generateEssay) };
    },
    [orderEssay],
  );
  return <EssayForm order={useEssayOrder(send)} />;
}
