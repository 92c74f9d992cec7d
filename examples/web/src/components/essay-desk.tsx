import type { EssayMode, WritingPurpose } from '../gql/graphql.ts';
import type { EssayDesk as Desk, OrderInput } from '../state/use-essay-desk.ts';
import { modeWords, purposeWords } from '../state/words.ts';
import { EssayOutcome } from './essay-outcome.tsx';
import { FailureNotice } from './failure-notice.tsx';

interface EssayDeskProps {
  desk: Desk;
}

export function EssayDesk({ desk: { state, lastInput, order, orderAgain } }: EssayDeskProps) {
  const isRunning = state === 'running';
  const wrongField =
    typeof state === 'object' && 'outcome' in state && state.outcome.__typename === 'InvalidEssayInput'
      ? state.outcome.field
      : null;
  const faultOf = (field: string) =>
    wrongField === field ? { 'aria-invalid': true, 'aria-describedby': 'essay-outcome' } : {};

  return (
    <>
      <form
        className="order"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isRunning) order(readOrder(new FormData(event.currentTarget)));
        }}
      >
        <label className="wide">
          What is it about?
          <textarea
            name="description"
            rows={3}
            defaultValue={lastInput?.description ?? ''}
            placeholder="Fountain pens: the reservoir, the feed, why people still write with one"
            {...faultOf('description')}
          />
        </label>
        <label>
          Mode
          <select name="mode" defaultValue={lastInput?.mode ?? 'STANDARD'} {...faultOf('mode')}>
            {options(modeWords)}
          </select>
        </label>
        <label>
          Purpose
          <select name="purpose" defaultValue={lastInput?.purpose ?? ''} {...faultOf('purpose')}>
            <option value="">Any</option>
            {options(purposeWords)}
          </select>
        </label>
        <label>
          Most words
          <input
            name="wordCount"
            type="number"
            inputMode="numeric"
            required
            defaultValue={lastInput?.wordCount ?? 250}
            {...faultOf('wordCount')}
          />
        </label>
        <button type="submit" className="primary" aria-disabled={isRunning}>
          Order the essay
        </button>
      </form>
      <div id="essay-outcome" className="answer" aria-live="polite" aria-busy={isRunning}>
        {isRunning && (
          <div className="notice running">
            <p>
              <strong>It is being written.</strong> That takes up to two minutes. You may reload the page: it is paid
              for once.
            </p>
            <progress aria-label="The essay is being written" />
          </div>
        )}
        {typeof state === 'object' &&
          ('outcome' in state ? (
            <EssayOutcome outcome={state.outcome} onRetry={orderAgain} />
          ) : (
            <FailureNotice failure={state.failure} onRetry={orderAgain} />
          ))}
      </div>
    </>
  );
}

function options(words: Readonly<Record<string, string>>) {
  return Object.entries(words).map(([value, label]) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));
}

/** The gateway judges what stands in it, so that there is one place that knows the rules. */
function readOrder(form: FormData): OrderInput {
  return {
    description: String(form.get('description')),
    mode: String(form.get('mode')) as EssayMode,
    purpose: (String(form.get('purpose')) || null) as WritingPurpose | null,
    wordCount: Math.trunc(Number(form.get('wordCount'))),
  };
}
