import { useId } from 'react';
import { IbanFacts } from '../documents.ts';
import type { Failure } from '../failure.ts';
import { type FragmentType, readFragment } from '../gql/index.ts';
import type { IbanListState, RowState } from '../state/use-iban-list.ts';
import { FailureNotice } from './failure-notice.tsx';
import { IbanRow } from './iban-row.tsx';

interface IbanListProps {
  list: IbanListState;
  /** In the order of the IBANs, null where a look-up failed; undefined while loading. */
  answers: readonly (FragmentType<typeof IbanFacts> | null)[] | null | undefined;
  /** Failed look-ups by index. The client's cache may have lost them. */
  failures: ReadonlyMap<number, Failure>;
  /** The whole request failed. */
  failure: Failure | null;
  onRetry: () => void;
}

export function IbanList({ list, answers, failures, failure, onRetry }: IbanListProps) {
  const field = useId();
  const rows = (list.ibansToCheck ?? []).map((iban, index) => ({ iban, index, state: list.row(iban, stateAt(index)) }));

  function stateAt(index: number): RowState {
    const answer = answers?.[index];
    if (answer === undefined) return 'waiting';
    const facts = readFragment(IbanFacts, answer);
    return facts ? { facts } : { failure: failures.get(index) ?? unknownFailure };
  }

  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          list.check();
        }}
      >
        <label htmlFor={field}>IBANs, one per line</label>
        <textarea
          id={field}
          className="iban"
          rows={6}
          value={list.text}
          spellCheck={false}
          autoCapitalize="characters"
          onChange={({ target, nativeEvent }) => {
            const isPasted = 'inputType' in nativeEvent && nativeEvent.inputType === 'insertFromPaste';
            if (isPasted) list.paste(target.value);
            else list.type(target.value);
          }}
        />
        <div className="actions">
          <button type="submit">Check all</button>
          <span className="hint">Pasted IBANs are checked immediately, with one request.</span>
        </div>
      </form>
      <p className="summary" role="status">
        {failure === null && rows.length > 0 && summarize(rows.map(({ state }) => state))}
      </p>
      <div aria-live="polite">{failure && <FailureNotice failure={failure} onRetry={onRetry} />}</div>
      {failure === null && rows.length > 0 && (
        <ol className="rows" aria-label="Results">
          {rows.map(({ iban, index, state }) => (
            <IbanRow key={`${index} ${iban}`} iban={iban} state={state} onRetry={() => list.retry(iban)} />
          ))}
        </ol>
      )}
    </>
  );
}

const unknownFailure: Failure = { message: 'The look-up failed.', isRetryable: true };

function summarize(states: readonly RowState[]): string {
  const waiting = states.filter((state) => state === 'waiting').length;
  if (waiting === states.length) return `Checking ${states.length} …`;
  const answered = states.flatMap((state) => (state !== 'waiting' && 'facts' in state ? [state.facts] : []));
  const valid = answered.filter((facts) => facts.valid).length;
  const failed = states.length - waiting - answered.length;
  const parts = [
    `${valid} valid`,
    `${answered.length - valid} not valid`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ];
  return parts.join(', ');
}
