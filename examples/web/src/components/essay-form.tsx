import { useEffect, useRef } from 'react';
import type { EssayMode, WritingPurpose } from '../gql/graphql.ts';
import type { EssayClient } from '../state/essay-client.ts';
import { isDrafter } from '../state/essay-writer.ts';
import { modeLabels, purposeLabels } from '../state/labels.ts';
import type { OrderInput } from '../state/stored-form.ts';
import { type OrderForm, useOrderForm } from '../state/use-order-form.ts';
import { FailureNotice } from './failure-notice.tsx';

interface EssayFormProps {
  essays: EssayClient;
  /** Whether the user has come here from another part of the page. */
  takesFocus: boolean;
}

export function EssayForm({ essays, takesFocus }: EssayFormProps) {
  const form = useOrderForm(essays);
  const { state, input, isLocked } = form;
  const isSending = state === 'sending';
  const topic = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (takesFocus) topic.current?.focus();
  }, [takesFocus]);

  const refusal = typeof state === 'object' && 'refusal' in state ? state.refusal : null;
  const problems = refusal?.__typename === 'InvalidEssayInput' ? refusal.fields : [];
  const problemOf = (field: FieldName) => problems.find(({ name }) => name === field);
  const ariaOf = (field: FieldName) =>
    problemOf(field) ? { 'aria-invalid': true, 'aria-describedby': `${field}-error` } : {};
  const errorOf = (field: FieldName) =>
    problemOf(field) && (
      <p id={`${field}-error`} className="field-error wide">
        {problemOf(field)?.message}
      </p>
    );
  const element = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (refusal) element.current?.querySelector<HTMLElement>('[aria-invalid]')?.focus();
  }, [refusal]);

  return (
    <>
      {isDrafter() && (
        <p className="hint">
          Written by the offline drafter, which is not a language model: it arranges the topic into paragraphs and adds
          no facts.
        </p>
      )}
      <form
        ref={element}
        onSubmit={(event) => {
          event.preventDefault();
          form.submit(readInput(new FormData(event.currentTarget)));
        }}
      >
        <fieldset className="order" disabled={isLocked}>
          <legend className="hidden">A new order</legend>
          <label className="wide">
            Topic
            <textarea
              ref={topic}
              name="description"
              rows={3}
              defaultValue={input?.description ?? ''}
              placeholder="Fountain pens: the reservoir, the feed, why people still write with one"
              {...ariaOf('description')}
            />
          </label>
          {errorOf('description')}
          <label>
            Mode
            <select name="mode" defaultValue={input?.mode ?? 'STANDARD'}>
              {options(modeLabels)}
            </select>
          </label>
          <label>
            Purpose
            <select name="purpose" defaultValue={input?.purpose ?? ''}>
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
              defaultValue={input?.wordCount ?? 250}
              {...ariaOf('wordCount')}
            />
          </label>
          {errorOf('wordCount')}
          <button type="submit" className="primary" aria-disabled={isSending}>
            Order essay
          </button>
        </fieldset>
      </form>
      <div id="essay-answer" className="answer" aria-live="polite">
        <Answer form={form} />
      </div>
    </>
  );
}

function Answer({ form: { state, retry } }: { form: OrderForm }) {
  if (state === 'open') return null;
  if (state === 'sending') return <p className="checking">Sending the order …</p>;
  if (state === 'unsent') {
    return (
      <div className="notice running">
        <p>
          <strong>This order has not arrived,</strong> so nothing was ordered or paid for. You can send it now.
        </p>
      </div>
    );
  }
  if ('failure' in state) return <FailureNotice failure={state.failure} onRetry={retry} />;
  const { refusal } = state;
  const isInvalid = refusal.__typename === 'InvalidEssayInput';
  const isBesideFields = isInvalid && refusal.fields.every(({ name }) => fieldNames.includes(name));
  if (isBesideFields && refusal.fields.length > 0) return null;
  return (
    <p className={isInvalid ? 'notice invalid' : 'notice failed'}>
      <span>
        <strong>No essay was ordered.</strong> {refusal.message}
      </span>
    </p>
  );
}

/** Fields whose problem is shown beside them. */
type FieldName = 'description' | 'wordCount';
const fieldNames: readonly string[] = ['description', 'wordCount'] satisfies FieldName[];

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
