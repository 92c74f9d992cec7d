import type { OrderProgressFragment } from '../gql/graphql.ts';
import { ElapsedTime } from './elapsed-time.tsx';
import { EssayArticle } from './essay-article.tsx';

interface OrderStateProps {
  order: OrderProgressFragment;
}

type Failed = Extract<OrderProgressFragment['state'], { __typename: 'EssayFailed' }>;

/** Renders each member of the union. */
export function OrderState({ order: { state, input, createdAt } }: OrderStateProps) {
  switch (state.__typename) {
    case 'EssayQueued':
      return (
        <div className="notice running">
          <p>
            <strong>{state.position === 0 ? 'Next to be sent.' : `Waiting behind ${state.position} orders.`}</strong>{' '}
            Nothing has been paid for yet.
          </p>
        </div>
      );
    case 'EssayWriting':
      return (
        <>
          <div className="notice running">
            <p>
              <strong>Writing the essay{state.wordCount > 0 && `: ${state.wordCount} words`}.</strong> It may have been
              paid for. You can close this page: the order continues, and the list below has it.
            </p>
            <div className="progress">
              <progress
                aria-label="Writing the essay"
                {...(state.textSoFar !== null && { value: state.wordCount, max: input.wordCount })}
              />
              <ElapsedTime since={Date.parse(createdAt)} />
            </div>
          </div>
          {state.textSoFar !== null && <EssayArticle text={state.textSoFar} essay={null} />}
        </>
      );
    case 'EssayFinished':
      return state.essay ? (
        <EssayArticle text={state.essay.text} essay={state.essay} />
      ) : (
        <p className="notice failed">The essay was deleted.</p>
      );
    case 'EssayFailed':
      return <FailedNotice failure={state.failure} />;
    case 'EssayCancelled':
      return (
        <p className={state.mayHaveBeenPaid ? 'notice failed' : 'notice running'}>
          <span>
            <strong>Cancelled.</strong>{' '}
            {state.mayHaveBeenPaid
              ? 'It had been sent to the service, so it may have been paid for.'
              : 'It had not been sent to the service, so nothing was paid for.'}
          </span>
        </p>
      );
  }
}

function FailedNotice({ failure }: Pick<Failed, 'failure'>) {
  const rawText = failure.__typename === 'EssayServiceFailed' ? failure.rawText : null;
  return (
    <div className={failure.__typename === 'InvalidEssayInput' ? 'notice invalid' : 'notice failed'}>
      <p>
        <strong>No essay was received.</strong> {failure.message}
      </p>
      {rawText !== null && (
        <details>
          <summary>Received text (may have been paid for)</summary>
          <pre>{rawText}</pre>
        </details>
      )}
    </div>
  );
}
