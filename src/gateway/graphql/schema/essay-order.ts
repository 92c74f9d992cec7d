import { GatewayError } from '../../../base/errors.ts';
import {
  type Cancellation,
  type EssayFailure,
  type EssayOrder,
  type EssayOrderState,
  essayLimits,
} from '../../essays/port.ts';
import { builder, DateTimeType, NodeType, UserErrorType } from './builder.ts';
import { PageInfoType, pageSize, pageSizeArg, readCursor, readPageSize, writeCursor } from './connection.ts';
import { essayCost, longTextCost, nullOnlyWithError, paid, textReadingCost } from './directives.ts';
import {
  countText,
  EssayAllowanceExhaustedType,
  EssayInputType,
  EssayServiceFailedType,
  EssayType,
  InvalidEssayInputType,
  placeOrder,
  readOrder,
  resultTypes,
  StartEssayInputType,
} from './essay.ts';
import { essaysScope, limitText, maxLengths } from './field-checks.ts';
import type { OrderPage } from './order-list.ts';

type StateOf<Kind extends EssayOrderState['kind']> = Extract<EssayOrderState, { kind: Kind }>;

const EssayQueuedType = builder.objectRef<StateOf<'queued'>>('EssayQueued').implement({
  description: 'The order waits, and has not been paid for.',
  fields: (t) => ({
    position: t.exposeInt('position', { description: 'Number of orders that wait before it in the same process.' }),
  }),
});

const EssayWritingType = builder.objectRef<StateOf<'writing'>>('EssayWriting').implement({
  description: 'The order was sent to the service, and may be paid for.',
  fields: (t) => ({
    textSoFar: t.string({
      nullable: true,
      directives: [longTextCost],
      description: 'The beginning of the text; null if the service does not show it before the end.',
      resolve: ({ textSoFar }, _, { limiter }) => (textSoFar === '' ? null : countText(textSoFar, limiter)),
    }),
    wordCount: t.int({
      directives: [textReadingCost],
      description: 'Number of words so far.',
      resolve: ({ textSoFar }) => textSoFar.match(/\S+/g)?.length ?? 0,
    }),
  }),
});

const EssayFinishedType = builder.objectRef<StateOf<'finished'>>('EssayFinished').implement({
  description: 'The essay was written, and is stored.',
  fields: (t) => ({
    essay: t.field({
      type: EssayType,
      nullable: true,
      description:
        'The essay; null if it was deleted meanwhile, or, with an error, if it cannot be read at the moment.',
      resolve: ({ essayId }, _, { loaders }) => loaders.findEssay(essayId),
    }),
  }),
});

const EssayFailureType = builder.unionType('EssayFailure', {
  description: 'Why the order failed.',
  types: [InvalidEssayInputType, EssayAllowanceExhaustedType, EssayServiceFailedType],
  resolveType: (failure) => resultTypes[(failure as EssayFailure).kind],
});

const EssayFailedType = builder.objectRef<StateOf<'failed'>>('EssayFailed').implement({
  description: 'There will be no essay. To try again, start an order with another idempotencyKey, or with orderAgain.',
  fields: (t) => ({ failure: t.expose('failure', { type: EssayFailureType, description: 'Why the order failed.' }) }),
});

const EssayCancelledType = builder.objectRef<StateOf<'cancelled'>>('EssayCancelled').implement({
  description: 'The order was cancelled.',
  fields: (t) => ({
    mayHaveBeenPaid: t.exposeBoolean('mayHaveBeenPaid', { description: 'Whether it had been sent to the service.' }),
  }),
});

const stateTypes = {
  queued: EssayQueuedType,
  writing: EssayWritingType,
  finished: EssayFinishedType,
  failed: EssayFailedType,
  cancelled: EssayCancelledType,
};

const EssayOrderStateType = builder.unionType('EssayOrderState', {
  description: 'How far an order is. It ends as EssayFinished, EssayFailed or EssayCancelled.',
  types: Object.values(stateTypes),
  resolveType: (state) => stateTypes[(state as EssayOrderState).kind],
});

const EssayOrderType = builder.objectRef<EssayOrder>('EssayOrder').implement({
  interfaces: [NodeType],
  description:
    'An order of an essay: one that was started, or, from when it is sent, one of generateEssay with an idempotencyKey.',
  fields: (t) => ({
    id: t.exposeID('id', { description: 'With this id, the client that ordered the essay can find the order.' }),
    state: t.expose('state', { type: EssayOrderStateType, description: 'How far it is.' }),
    createdAt: t.expose('createdAt', {
      type: DateTimeType,
      description: 'When it was started, or sent by generateEssay.',
    }),
    input: t.expose('input', { type: EssayInputType, description: 'What was ordered.' }),
    isCancellable: t.exposeBoolean('isCancellable', {
      description:
        'Whether cancelEssayOrder would cancel it now: it was started and has not ended, and it was not sent yet, or the operator ' +
        'allows cancelling orders that were sent.',
    }),
  }),
});

const orderIdArg = limitText('id', maxLengths.id, '`EssayOrder.id`.');

const StartEssayResultType = builder.unionType('StartEssayResult', {
  description: 'The order, or why it was not started.',
  types: [EssayOrderType, InvalidEssayInputType, EssayAllowanceExhaustedType, EssayServiceFailedType],
  resolveType: (result) => ('kind' in (result as object) ? resultTypes[(result as EssayFailure).kind] : EssayOrderType),
});

builder.mutationField('startEssay', (t) =>
  t.field({
    extensions: essaysScope,
    type: StartEssayResultType,
    directives: [essayCost, paid],
    description:
      'Orders an essay, and returns as soon as the order is stored: it is then written even if the client or the gateway stops. ' +
      'Watch it with `essayOrder`. With the same idempotencyKey, the same order is the same EssayOrder, paid for once. At most `limits.essays` per mutation.',
    args: { input: t.arg({ type: StartEssayInputType, required: true, description: 'The order.' }) },
    resolve: (_, { input }, context) =>
      placeOrder(context, (essays, caller) =>
        essays.start(readOrder(input, input.idempotencyKey), caller, context.callLimit),
      ),
  }),
);

builder.queryField('essayOrder', (t) =>
  t.field({
    extensions: essaysScope,
    type: EssayOrderType,
    nullable: true,
    description:
      'An order of this client, by its id or its idempotencyKey. Null if there is none, or it was deleted or has expired. Orders ' +
      'nothing, and needs no upstream call.',
    args: {
      id: t.arg.id(orderIdArg),
      idempotencyKey: t.arg.id(
        limitText('idempotency key', essayLimits.idempotencyKey, 'The idempotencyKey of the order.'),
      ),
    },
    resolve: (_, { id, idempotencyKey }, { loaders }) => {
      if (id != null && idempotencyKey == null) return loaders.findOrder(id);
      if (id == null && idempotencyKey != null) return loaders.findOrderByKey(idempotencyKey);
      throw new GatewayError(
        'BAD_USER_INPUT',
        'An order is found by either its id or its idempotencyKey: set one of them.',
      );
    },
  }),
);

builder.subscriptionField('essayOrder', (t) =>
  t.field({
    extensions: essaysScope,
    type: EssayOrderType,
    nullable: true,
    description:
      'An order of this client: its state now, and after each change, always as a whole. Ends when the order has ' +
      'ended. If it ends before, because the gateway stopped, subscribe again; if it ends with the code UNAUTHENTICATED, because ' +
      'the credentials have expired, with new ones. Null for an unknown order.',
    args: { id: t.arg.id({ required: true, ...orderIdArg }) },
    subscribe: (_, { id }, { services, caller, requestContext: { signal } }) =>
      services.essays.watch(id, caller.id, signal),
    resolve: (order) => order as EssayOrder | null,
  }),
);

type Deletion = { deletedId: string };

const mayHaveBeenPaid = { description: 'Whether it was sent, and so may be paid for.' };

type Refusal = { kind: 'unknown' | 'not-ended' | 'not-cancellable'; message: string };

const EssayOrderNotFoundType = builder.objectRef<Refusal>('EssayOrderNotFound').implement({
  description: 'This client has no such order: it was deleted or has expired, or the id is wrong.',
  interfaces: [UserErrorType],
});

const EssayOrderNotEndedType = builder.objectRef<Refusal>('EssayOrderNotEnded').implement({
  description: 'The order has not ended. Nothing was deleted.',
  interfaces: [UserErrorType],
});

const EssayOrderNotCancellableType = builder.objectRef<Refusal & Cancellation>('EssayOrderNotCancellable').implement({
  description:
    'The order was sent, or has ended: it is completed and kept. The operator decides whether orders that were sent can be cancelled.',
  interfaces: [UserErrorType],
  fields: (t) => ({
    order: t.expose('order', { type: EssayOrderType, description: 'The order.' }),
    mayHaveBeenPaid: t.exposeBoolean('mayHaveBeenPaid', mayHaveBeenPaid),
  }),
});

const refusalTypes = {
  unknown: EssayOrderNotFoundType,
  'not-ended': EssayOrderNotEndedType,
  'not-cancellable': EssayOrderNotCancellableType,
};

const refusals = {
  unknown: { kind: 'unknown', message: 'The order is unknown: it was deleted or has expired, or its id is wrong.' },
  'not-ended': {
    kind: 'not-ended',
    message: 'The order has not ended: cancel it, or wait for its end, before you delete it.',
  },
} as const satisfies Partial<Record<Refusal['kind'], Refusal>>;

const EssayCancellationType = builder.objectRef<Cancellation>('EssayCancellation').implement({
  description: 'The order is cancelled.',
  fields: (t) => ({
    order: t.expose('order', { type: EssayOrderType, description: 'The order.' }),
    mayHaveBeenPaid: t.exposeBoolean('mayHaveBeenPaid', mayHaveBeenPaid),
  }),
});

const CancelEssayOrderResultType = builder.unionType('CancelEssayOrderResult', {
  description: 'The cancelled order, or why it was not cancelled.',
  types: [EssayCancellationType, EssayOrderNotCancellableType, EssayOrderNotFoundType],
  resolveType: findResultType,
});

builder.mutationField('cancelEssayOrder', (t) =>
  t.field({
    extensions: { ...essaysScope, ...nullOnlyWithError },
    type: CancelEssayOrderResultType,
    nullable: true,
    description:
      'Cancels an order that was started. One that was not sent yet costs nothing. One of generateEssay is not cancelled. Null, ' +
      'with an error, while the store fails.',
    args: { id: t.arg.id({ required: true, ...orderIdArg }) },
    async resolve(_, { id }, { loaders, requestContext }) {
      const cancellation = await loaders.cancelOrder(id);
      const result = cancellation === null ? refusals.unknown : refuseUncancelled(cancellation);
      requestContext.outcomes.push(outcomeOf(result));
      return result;
    },
  }),
);

function refuseUncancelled(cancellation: Cancellation): Cancellation | (Refusal & Cancellation) {
  if (cancellation.isCancelled) return cancellation;
  const hasEnded = ['finished', 'failed'].includes(cancellation.order.state.kind);
  const message = hasEnded
    ? 'The order has ended, so it cannot be cancelled any more.'
    : 'The order was sent and may be paid for, so it is completed and kept.';
  return { kind: 'not-cancellable', message, ...cancellation };
}

const EssayDeletionType = builder.objectRef<Deletion>('EssayDeletion').implement({
  description: 'The order was deleted, with its essay.',
  fields: (t) => ({
    deletedId: t.exposeID('deletedId', { description: '`EssayOrder.id`, which is unknown from now on.' }),
  }),
});

const DeleteEssayOrderResultType = builder.unionType('DeleteEssayOrderResult', {
  description: 'What was deleted, or why the order was not.',
  types: [EssayDeletionType, EssayOrderNotFoundType, EssayOrderNotEndedType],
  resolveType: findResultType,
});

builder.mutationField('deleteEssayOrder', (t) =>
  t.field({
    extensions: { ...essaysScope, ...nullOnlyWithError },
    type: DeleteEssayOrderResultType,
    nullable: true,
    description:
      'Deletes an order that has ended, with its essay; its idempotencyKey then is unknown. Null, with an error, while the store ' +
      'fails.',
    args: { id: t.arg.id({ required: true, ...orderIdArg }) },
    async resolve(_, { id }, { loaders, requestContext }) {
      const { result: deleted } = await loaders.deleteOrder(id);
      const result = deleted === 'deleted' ? { deletedId: id } : refusals[deleted];
      requestContext.outcomes.push(outcomeOf(result));
      return result;
    },
  }),
);

function findResultType(result: Cancellation | Deletion | Refusal) {
  if ('kind' in result) return refusalTypes[result.kind];
  return 'deletedId' in result ? EssayDeletionType : EssayCancellationType;
}

function outcomeOf(result: Cancellation | Deletion | Refusal) {
  // An order may be sent at any time, so a client cannot know that it cancels too late.
  const isMistake = 'kind' in result && result.kind !== 'not-cancellable';
  return { type: findResultType(result).name, code: isMistake ? ('BAD_USER_INPUT' as const) : null };
}

const EssayOrderEdgeType = builder.objectRef<OrderPage['entries'][number]>('EssayOrderEdge').implement({
  description: 'An order and its cursor.',
  fields: (t) => ({
    cursor: t.string({
      description: 'Pass it as `after` to continue from here.',
      resolve: ({ number }) => writeCursor(number),
    }),
    node: t.expose('order', { type: EssayOrderType, description: 'The order.' }),
  }),
});

const EssayOrderConnectionType = builder
  .objectRef<OrderPage & { after: number | null }>('EssayOrderConnection')
  .implement({
    description: 'A page of orders.',
    fields: (t) => ({
      edges: t.expose('entries', { type: [EssayOrderEdgeType], description: 'The orders with their cursors.' }),
      nodes: t.field({
        type: [EssayOrderType],
        description: 'The orders without cursors.',
        resolve: ({ entries }) => entries.map(({ order }) => order),
      }),
      pageInfo: t.field({
        type: PageInfoType,
        description: 'Position in the list.',
        resolve: ({ entries, hasNext, end, after }) => ({
          hasNext,
          hasPrevious: after !== null,
          start: entries[0]?.number ?? null,
          end,
        }),
      }),
    }),
  });

const EssayOrderStateFilterType = builder.enumType('EssayOrderStateFilter', {
  description: 'The states of orders.',
  values: {
    QUEUED: { value: 'queued', description: 'EssayQueued.' },
    WRITING: { value: 'writing', description: 'EssayWriting.' },
    FINISHED: { value: 'finished', description: 'EssayFinished.' },
    FAILED: { value: 'failed', description: 'EssayFailed.' },
    CANCELLED: { value: 'cancelled', description: 'EssayCancelled.' },
  } as const satisfies Record<string, { value: EssayOrderState['kind']; description: string }>,
});

builder.queryField('essayOrders', (t) =>
  t.field({
    extensions: { ...essaysScope, ...nullOnlyWithError },
    type: EssayOrderConnectionType,
    nullable: true,
    directives: [pageSize],
    description:
      'The orders of this client, the newest first, in pages. They are stored as long as essays. Needs no upstream call. A query ' +
      'reads at most `limits.listedOrders` of them: where few are in `state`, a page may end early, and have a next page. Null, ' +
      'with an error, while the store fails, and without credentials (only a gateway on the same machine lists orders then).',
    args: {
      first: t.arg.int(pageSizeArg),
      after: t.arg.string(
        limitText('cursor', maxLengths.cursor, 'Cursor of the order before the page; null for the first page.'),
      ),
      state: t.arg({ type: EssayOrderStateFilterType, description: 'Only orders in this state; null for all.' }),
    },
    async resolve(_, { first, after: cursor, state }, { services, caller, loaders }) {
      if (caller.kind === 'anonymous' && !services.isOnlyLocal) throw unknownOwner();
      const after = cursor == null ? null : readCursor(cursor);
      const listing = { first: readPageSize(first), after, state: state ?? null };
      return { ...(await loaders.listOrders(listing)), after };
    },
  }),
);

/** The anonymous requests of other machines may be of different users, who must not see each other's essays. */
function unknownOwner(): GatewayError {
  const message =
    'A request without credentials has no list of orders, because the gateway cannot distinguish users. Send the ' +
    'credentials of a caller, or find an order by its id or idempotencyKey: essayOrder(idempotencyKey:).';
  return new GatewayError('FORBIDDEN', message);
}
