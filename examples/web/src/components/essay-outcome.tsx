import type { OrderOutcomeFragment } from '../gql/graphql.ts';
import { EssayArticle } from './essay-article.tsx';

interface EssayOutcomeProps {
  outcome: OrderOutcomeFragment;
  onRetry: () => void;
}

/** Renders each member of the union. */
export function EssayOutcome({ outcome, onRetry }: EssayOutcomeProps) {
  switch (outcome.__typename) {
    case 'Essay':
      return <EssayArticle essay={outcome} />;
    case 'InvalidEssayInput':
      return (
        <div className="notice invalid">
          <p>
            <strong>{outcome.field === null ? 'The order' : fieldLabels[outcome.field]} must be changed.</strong>{' '}
            {outcome.message}
          </p>
        </div>
      );
    case 'EssayAllowanceExhausted':
      return (
        <div className="notice failed">
          <p>
            <strong>No essay was ordered.</strong> {outcome.message}
          </p>
        </div>
      );
    case 'EssayServiceFailed':
      return (
        <div className="notice failed">
          <p>
            <strong>No essay was received.</strong> {outcome.message}
          </p>
          {outcome.retryable && (
            <button type="button" onClick={onRetry}>
              Order again
            </button>
          )}
          {outcome.rawText !== null && (
            <details>
              <summary>Received text (may have been paid for)</summary>
              <pre>{outcome.rawText}</pre>
            </details>
          )}
        </div>
      );
  }
}

const fieldLabels: Readonly<Record<string, string>> = {
  description: 'The topic',
  mode: 'The mode',
  purpose: 'The purpose',
  wordCount: 'The number of words',
};
