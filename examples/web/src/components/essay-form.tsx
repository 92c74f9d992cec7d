import type { EssayMode, WritingPurpose } from '../gql/graphql.ts';
import { modeLabels, purposeLabels } from '../state/labels.ts';
import type { EssayOrder, OrderInput } from '../state/use-essay-order.ts';
import { EssayOutcome } from './essay-outcome.tsx';
import { FailureNotice } from './failure-notice.tsx';

interface EssayFormProps {
  order: EssayOrder;
}

export function EssayForm({ order: { state, lastInput, submit, retry } }: EssayFormProps) {
  const isRunning = state === 'running';
  const invalidField =
    typeof state === 'object' && 'outcome' in state && state.outcome.__typename === 'InvalidEssayInput'
      ? state.outcome.field
      : null;
  const ariaOf = (field: string) =>
    invalidField === field ? { 'aria-invalid': true, 'aria-describedby': 'essay-outcome' } : {};

  return (
    <>
      <form
        className="order"
        onSubmit={(event) => {
          event.preventDefault();
          if (!isRunning) submit(readInput(new FormData(event.currentTarget)));
        }}
      >
        <label className="wide">
          Topic
          <textarea
            name="description"
            rows={3}
            defaultValue={lastInput?.description ?? ''}
            placeholder="Fountain pens: the reservoir, the feed, why people still write with one"
            {...ariaOf('description')}
          />
        </label>
        <label>
          Mode
          <select name="mode" defaultValue={lastInput?.mode ?? 'STANDARD'} {...ariaOf('mode')}>
            {options(modeLabels)}
          </select>
        </label>
        <label>
          Purpose
          <select name="purpose" defaultValue={lastInput?.purpose ?? ''} {...ariaOf('purpose')}>
            <option value="">Any</option>
            {options(purposeLabels)}
          </select>
        </label>
        <label>
          Maximum words
          <input
            name="wordCount"
            type="number"
            inputMode="numeric"
            required
            defaultValue={lastInput?.wordCount ?? 250}
            {...ariaOf('wordCount')}
          />
        </label>
        <button type="submit" className="primary" aria-disabled={isRunning}>
          Order essay
        </button>
      </form>
      <div id="essay-outcome" className="answer" aria-live="polite" aria-busy={isRunning}>
        {isRunning && (
          <div className="notice running">
            <p>
              <strong>Writing the essay.</strong> This takes up to two minutes. You can reload the page: the essay is
              paid for once.
            </p>
            <progress aria-label="Writing the essay" />
          </div>
        )}
        {typeof state === 'object' &&
          ('outcome' in state ? (
            <EssayOutcome outcome={state.outcome} onRetry={retry} />
          ) : (
            <FailureNotice failure={state.failure} onRetry={retry} />
          ))}
      </div>
    </>
  );
}

function options(labels: Readonly<Record<string, string>>) {
  return Object.entries(labels).map(([value, label]) => (
    <option key={value} value={value}>
      {label}
    </option>
  ));
}

/** Reads the form without validation, which is left to the gateway. */
function readInput(form: FormData): OrderInput {
  return {
    description: String(form.get('description')),
    mode: String(form.get('mode')) as EssayMode,
    purpose: (String(form.get('purpose')) || null) as WritingPurpose | null,
    wordCount: Math.trunc(Number(form.get('wordCount'))),
  };
}
