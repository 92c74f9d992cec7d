import type { OrderOutcomeFragment } from '../gql/graphql.ts';
import { modeWords } from '../state/words.ts';

interface EssayOutcomeProps {
  outcome: OrderOutcomeFragment;
  onRetry: () => void;
}

/** Every member of the union in words of its own. */
export function EssayOutcome({ outcome, onRetry }: EssayOutcomeProps) {
  switch (outcome.__typename) {
    case 'Essay':
      return (
        <article className="essay">
          {paragraphs(outcome.text).map(({ start, text }) => (
            <p key={start}>{text}</p>
          ))}
          <footer className="hint">
            {outcome.wordCount} words, {modeWords[outcome.mode].toLowerCase()}
          </footer>
        </article>
      );
    case 'InvalidEssayInput':
      return (
        <div className="notice invalid">
          <p>
            <strong>{outcome.field === null ? 'The order' : fieldWords[outcome.field]} has to be changed.</strong>{' '}
            {outcome.message}
          </p>
        </div>
      );
    case 'EssayAllowanceExhausted':
      return (
        <div className="notice failed">
          <p>
            <strong>The allowance is used up.</strong>{' '}
            {outcome.renewsAt === null ? (
              'The service did not say when it renews.'
            ) : (
              <>
                It renews on <time dateTime={outcome.renewsAt}>{printDay(outcome.renewsAt)}</time>.
              </>
            )}
          </p>
        </div>
      );
    case 'EssayServiceFailed':
      return (
        <div className="notice failed">
          <p>
            <strong>No essay came back.</strong> {outcome.message}
          </p>
          {outcome.retryable && (
            <button type="button" onClick={onRetry}>
              Order it again
            </button>
          )}
          {outcome.rawText !== null && (
            <details>
              <summary>What arrived, and may have been paid for</summary>
              <pre>{outcome.rawText}</pre>
            </details>
          )}
        </div>
      );
  }
}

const fieldWords: Readonly<Record<string, string>> = {
  description: 'What it is about',
  mode: 'The mode',
  purpose: 'The purpose',
  wordCount: 'The number of words',
};

/** Each with where it begins, by which it is told from others with the same words. */
function paragraphs(text: string): { start: number; text: string }[] {
  return [...text.matchAll(/[^\n]+/g)].map((match) => ({ start: match.index, text: match[0] }));
}

function printDay(moment: string): string {
  return new Intl.DateTimeFormat('en', { dateStyle: 'long', timeZone: 'UTC' }).format(new Date(moment));
}
