import type { ApolloClient, ErrorLike } from '@apollo/client';
import {
  CancelOrder,
  DeleteOrder,
  FindOrder,
  OrderProgress,
  PastOrders,
  StartEssay,
  WatchOrder,
} from '../documents.ts';
import { unreachable } from '../failure.ts';
import { readFragment } from '../gql/index.ts';
import type { Answer, EssayClient } from '../state/essay-client.ts';
import { readFailure } from './read-failure.ts';

/** Orders change, so their states are not cached. */
const fetchPolicy = 'no-cache';
const errorPolicy = 'all';

/** `HttpLink` needs no configuration for the subscription, which it receives as multipart/mixed. */
export function createApolloEssays(client: ApolloClient): EssayClient {
  return {
    async start(input) {
      const result = await client.mutate({ mutation: StartEssay, variables: { input }, fetchPolicy, errorPolicy });
      return toAnswer(result, ({ startEssay }) => startEssay);
    },
    async findByKey(idempotencyKey) {
      const result = await client.query({ query: FindOrder, variables: { idempotencyKey }, fetchPolicy, errorPolicy });
      return toAnswer(result, ({ essayOrder }) => essayOrder?.id ?? null);
    },
    watch(id, onAnswer, onEnd) {
      const results = client.subscribe({ query: WatchOrder, variables: { id }, fetchPolicy, errorPolicy });
      const subscription = results.subscribe({
        next: (result) =>
          onAnswer(toAnswer(result, ({ essayOrder }) => readFragment(OrderProgress, essayOrder) ?? null)),
        complete: onEnd,
      });
      return () => subscription.unsubscribe();
    },
    async cancel(id) {
      const result = await client.mutate({ mutation: CancelOrder, variables: { id }, fetchPolicy, errorPolicy });
      return toAnswer(result, ({ cancelEssayOrder }) => cancelEssayOrder);
    },
    async delete(id) {
      const result = await client.mutate({ mutation: DeleteOrder, variables: { id }, fetchPolicy, errorPolicy });
      return toAnswer(result, ({ deleteEssayOrder }) => deleteEssayOrder);
    },
    async list(after) {
      const result = await client.query({ query: PastOrders, variables: { after }, fetchPolicy, errorPolicy });
      return toAnswer(result, ({ essayOrders }) => essayOrders);
    },
  };
}

interface Result<Data> {
  data?: Data | null | undefined;
  error?: ErrorLike | undefined;
}

/** Reads no data with an error: by the types, fields with `@semanticNonNull` are not null. */
function toAnswer<Data, Value>({ data, error }: Result<Data>, read: (data: Data) => Value): Answer<Value> {
  return data && !error ? { value: read(data) } : { failure: readFailure(error) ?? unreachable };
}
