import { useEffect, useRef, useState } from 'react';
import type { Failure } from '../failure.ts';
import type { OrderProgressFragment } from '../gql/graphql.ts';
import { type EssayClient, isEnded } from '../state/essay-client.ts';
import { modeLabels, timeFormat } from '../state/labels.ts';
import { formHash, toViewHash } from '../state/use-address.ts';
import { useOrder } from '../state/use-order.ts';
import { FailureNotice } from './failure-notice.tsx';
import { OrderState } from './order-state.tsx';

interface EssayOrderProps {
  essays: EssayClient;
  id: string;
  /** Whether the user has come here from another part of the page. */
  takesFocus: boolean;
  /** Called with the name of each new state. */
  onState: (name: string) => void;
}

/** An order from its start to its essay. */
export function EssayOrder({ essays, id, takesFocus, onState }: EssayOrderProps) {
  const { order, failure } = useOrder(essays, id);
  const [cancelling, setCancelling] = useState<CancelState>('no');
  const [deletionFailure, setDeletionFailure] = useState<Failure | null>(null);
  const heading = useRef<HTMLHeadingElement>(null);
  const stateName = order?.state.__typename ?? '';
  useEffect(() => {
    if (takesFocus) heading.current?.focus();
  }, [takesFocus]);
  useEffect(() => onState(stateName), [onState, stateName]);

  async function cancel() {
    setCancelling('asked');
    const answer = await essays.cancel(id);
    if ('failure' in answer) setCancelling(answer);
    // If it is cancelled, its state shows it.
    else setCancelling(answer.value.__typename === 'EssayCancellation' ? 'no' : { refusal: answer.value.message });
  }

  async function remove() {
    if (!confirm('Delete this order and its essay? It cannot be restored, only ordered and paid for again.')) return;
    const answer = await essays.delete(id);
    if ('failure' in answer) setDeletionFailure(answer.failure);
    else location.assign(toViewHash('essays'));
  }

  const hasEnded = order === null || (order !== undefined && isEnded(order.state));
  return (
    <section className="shown-order" aria-labelledby="order-heading">
      <header>
        <h3 ref={heading} id="order-heading" tabIndex={-1}>
          {order ? firstLine(order.input.description) : order === null ? 'No such order' : 'Your order'}
        </h3>
        {order && (
          <p className="hint">
            {modeLabels[order.input.mode]}, at most {order.input.wordCount} words, ordered{' '}
            <time dateTime={order.createdAt}>{timeFormat.format(new Date(order.createdAt))}</time>
          </p>
        )}
      </header>
      <p className="hidden" role="status">
        {order && announce(order.state)}
      </p>
      {order && <OrderState order={order} />}
      {order === null && <p>It was deleted, or another client has started it.</p>}
      {order === undefined && !failure && <p className="checking">Loading …</p>}
      {failure &&
        (failure.isRetryable ? (
          <p role="status" className="notice failed">
            The connection was lost. The order continues, and is shown as soon as the gateway can be reached.
          </p>
        ) : (
          <FailureNotice failure={failure} onRetry={() => {}} />
        ))}
      {hasEnded ? (
        <div className="buttons">
          <button type="button" onClick={() => location.assign(formHash)}>
            Order another essay
          </button>
          {order !== null && (
            <button type="button" onClick={() => void remove()}>
              Delete
            </button>
          )}
        </div>
      ) : (
        <Cancelling
          state={cancelling}
          isCancellable={order?.isCancellable === true}
          isSent={stateName === 'EssayWriting'}
          onCancel={() => void cancel()}
        />
      )}
      {deletionFailure && <FailureNotice failure={deletionFailure} onRetry={() => void remove()} />}
    </section>
  );
}

type CancelState = 'no' | 'asked' | { refusal: string } | { failure: Failure };

interface CancellingProps {
  state: CancelState;
  isCancellable: boolean;
  isSent: boolean;
  onCancel: () => void;
}

function Cancelling({ state, isCancellable, isSent, onCancel }: CancellingProps) {
  const isRefused = typeof state === 'object' && 'refusal' in state;
  return (
    <div className="answer" aria-live="polite">
      {isCancellable && !isRefused && (
        <>
          <button
            type="button"
            aria-disabled={state === 'asked'}
            onClick={() => {
              if (state !== 'asked') onCancel();
            }}
          >
            Cancel the order
          </button>
          <p className="hint">
            {isSent
              ? 'It was sent, so it may be paid for all the same, and its text is lost.'
              : 'It costs nothing, as the order was not sent yet.'}
          </p>
        </>
      )}
      {typeof state === 'object' && (
        <p className="notice failed">{'refusal' in state ? state.refusal : state.failure.message}</p>
      )}
    </div>
  );
}

/** For screen readers, which do not read the text while it arrives: only each hundred words. */
function announce(state: OrderProgressFragment['state']): string {
  switch (state.__typename) {
    case 'EssayQueued':
      return state.position === 0 ? 'The order is next.' : `${state.position} orders are before this one.`;
    case 'EssayWriting':
      return state.wordCount < 100
        ? 'The essay is being written.'
        : `${Math.floor(state.wordCount / 100) * 100} words are written.`;
    case 'EssayFinished':
      return 'The essay is finished.';
    case 'EssayFailed':
      return 'The order failed.';
    case 'EssayCancelled':
      return 'The order is cancelled.';
  }
}

export function firstLine(description: string): string {
  return description.trim().split('\n', 1)[0] ?? '';
}
