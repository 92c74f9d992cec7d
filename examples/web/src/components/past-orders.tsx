import type { OrderPage } from '../state/essay-client.ts';
import { timeFormat } from '../state/labels.ts';
import { toOrderHash } from '../state/use-address.ts';
import type { PastOrders as Past } from '../state/use-past-orders.ts';
import { firstLine } from './essay-order.tsx';
import { FailureNotice } from './failure-notice.tsx';

interface PastOrdersProps {
  past: Past;
  /** The order that is shown above; null: none. */
  shownId: string | null;
}

/** All orders of this client, which the gateway stores: a new tab has them, too. */
export function PastOrders({ past: { orders, failure, loadMore, reload }, shownId }: PastOrdersProps) {
  if (failure) return <FailureNotice failure={failure} onRetry={reload} />;
  if (!orders?.length) return null;
  return (
    <nav className="past" aria-labelledby="past-heading">
      <h3 id="past-heading">Your essays</h3>
      <ul>
        {orders.map(({ id, createdAt, input, state }) => (
          <li key={id}>
            <a href={toOrderHash(id)} aria-current={id === shownId} aria-describedby={`${id}-state`}>
              {(state.__typename === 'EssayFinished' && state.essay?.title) || firstLine(input.description)}
            </a>
            <span id={`${id}-state`} className="hint">
              {describe(state)}, <time dateTime={createdAt}>{timeFormat.format(new Date(createdAt))}</time>
            </span>
          </li>
        ))}
      </ul>
      {loadMore && (
        <button type="button" className="small" onClick={loadMore}>
          Show more
        </button>
      )}
    </nav>
  );
}

function describe(state: OrderPage['nodes'][number]['state']): string {
  switch (state.__typename) {
    case 'EssayQueued':
      return 'Waiting';
    case 'EssayWriting':
      return 'Being written';
    case 'EssayFinished':
      return state.essay ? `${state.essay.wordCount} words` : 'Deleted';
    case 'EssayFailed':
      return 'Failed';
    case 'EssayCancelled':
      return 'Cancelled';
  }
}
