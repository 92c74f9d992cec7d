import type { Client, OperationResult } from 'urql';
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

/** Orders change, so their states are not taken from the cache. */
const context = { requestPolicy: 'network-only' } as const;

export function createUrqlEssays(client: Client): EssayClient {
  return {
    async start(input) {
      return toAnswer(await client.mutation(StartEssay, { input }), ({ startEssay }) => startEssay);
    },
    async findByKey(idempotencyKey) {
      const result = await client.query(FindOrder, { idempotencyKey }, context);
      return toAnswer(result, ({ essayOrder }) => essayOrder?.id ?? null);
    },
    watch(id, onAnswer, onEnd) {
      const subscription = client.subscription(WatchOrder, { id }).subscribe((result) => {
        onAnswer(toAnswer(result, ({ essayOrder }) => readFragment(OrderProgress, essayOrder) ?? null));
        // At the end, the last result is repeated without a next one.
        if (!result.hasNext) onEnd();
      });
      return () => subscription.unsubscribe();
    },
    async cancel(id) {
      return toAnswer(await client.mutation(CancelOrder, { id }), ({ cancelEssayOrder }) => cancelEssayOrder);
    },
    async delete(id) {
      return toAnswer(await client.mutation(DeleteOrder, { id }), ({ deleteEssayOrder }) => deleteEssayOrder);
    },
    async list(after) {
      return toAnswer(await client.query(PastOrders, { after }, context), ({ essayOrders }) => essayOrders);
    },
  };
}

/** Reads no data with an error: by the types, fields with `@semanticNonNull` are not null. */
function toAnswer<Data, Value>(
  { data, error }: Pick<OperationResult<Data>, 'data' | 'error'>,
  read: (data: Data) => Value,
): Answer<Value> {
  return data && !error ? { value: read(data) } : { failure: readFailure(error) ?? unreachable };
}
