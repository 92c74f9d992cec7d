import type { EssayMode, WritingPurpose } from '../gql/graphql.ts';
import { isDrafter } from '../state/essay-writer.ts';
import { modeLabels, purposeLabels } from '../state/labels.ts';
import { type EssayOrder, isEssay, type OrderInput } from '../state/use-essay-order.ts';
import { EssayOutcome } from './essay-outcome.tsx';
import { FailureNotice } from './failure-notice.tsx';
import { RunningNotice } from './running-notice.tsx';

interface EssayFormProps {
  order: EssayOrder;
}

export function EssayForm({ order }: EssayFormProps) {
  const { state, lastInput, submit, retry } = order;
  const isRunning = state === 'running';
  const invalidField =
    typeof state === 'object' && 'outcome' in state && state.outcome.__typename === 'InvalidEssayInput'
      ? state.outcome.field
      : null;
  const ariaOf = (field: string) =>
    invalidField === field ? { 'aria-invalid': true, 'aria-describedby': 'essay-outcome' } : {};

  return (
    <>
      {isDrafter() && (
        <p className="hint">
          Written by the offline drafter, which is not a language model: it arranges the topic into paragraphs and adds
          no facts. For real essays, set LLM_URL or ESSAY_URL.
        </p>
      )}
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
        {isRunning && <RunningNotice sentAt={order.sentAt} />}
        {order.isRepeated && (
          <div className="notice running">
            <p>
              <strong>
                {isEssay(state) ? 'This essay is already written.' : 'This order may have been paid for.'}
              </strong>{' '}
              A second one is a new order, which is paid for again.
            </p>
            <button type="button" onClick={order.confirm}>
              Order a second essay
            </button>
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
