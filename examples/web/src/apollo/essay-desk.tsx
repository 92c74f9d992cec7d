import { useMutation } from '@apollo/client/react';
import { useCallback } from 'react';
import { EssayDesk } from '../components/essay-desk.tsx';
import { OrderEssay, OrderOutcome } from '../documents.ts';
import { unreachable } from '../failure.ts';
import { readFragment } from '../gql/index.ts';
import type { KeptOrder } from '../state/kept-order.ts';
import { type SentOrder, useEssayDesk } from '../state/use-essay-desk.ts';
import { readFailure } from './read-failure.ts';

export function ApolloEssayDesk() {
  const [orderEssay] = useMutation(OrderEssay, { errorPolicy: 'all' });
  const send = useCallback(
    async (input: KeptOrder['input']): Promise<SentOrder> => {
      const { data, error } = await orderEssay({ variables: { input } });
      if (!data) return { failure: readFailure(error) ?? unreachable };
      return { outcome: readFragment(OrderOutcome, data.generateEssay) };
    },
    [orderEssay],
  );
  return <EssayDesk desk={useEssayDesk(send)} />;
}
