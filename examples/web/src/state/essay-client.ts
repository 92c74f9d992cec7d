import type { Failure } from '../failure.ts';
import type {
  CancelOrderMutation,
  OrderProgressFragment,
  PastOrdersQuery,
  StartEssayInput,
  StartEssayMutation,
} from '../gql/graphql.ts';

/** What the page does with essays, with either GraphQL client. Promises never reject. */
export interface EssayClient {
  start(input: StartEssayInput): Promise<Answer<StartEssayMutation['startEssay']>>;
  /** The id of the order with this key; null if there is none. */
  findByKey(idempotencyKey: string): Promise<Answer<string | null>>;
  /**
   * @param onAnswer called with each state of the order; null for an unknown order
   * @param onEnd called when the order has ended, or the connection
   * @returns a function that stops watching
   */
  watch(id: string, onAnswer: (answer: Answer<OrderProgressFragment | null>) => void, onEnd: () => void): () => void;
  cancel(id: string): Promise<Answer<CancelOrderMutation['cancelEssayOrder']>>;
  /** Deletes an order that has ended, with its essay. */
  delete(id: string): Promise<Answer<unknown>>;
  /** @param after cursor of the order before the page; null for the first page */
  list(after: string | null): Promise<Answer<OrderPage>>;
}

export type Answer<Value> = { value: Value } | { failure: Failure };
export type OrderPage = PastOrdersQuery['essayOrders'];

export function isEnded({ __typename }: { __typename: OrderProgressFragment['state']['__typename'] }): boolean {
  return __typename !== 'EssayQueued' && __typename !== 'EssayWriting';
}
