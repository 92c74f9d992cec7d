import { useId, useRef } from 'react';
import { IbanFacts } from '../documents.ts';
import { type Failure, unknownFailure } from '../failure.ts';
import { type FragmentType, readFragment } from '../gql/index.ts';
import { formatIban } from '../state/iban-text.ts';
import { countByKind, createRow, describeCounts, type ListRow } from '../state/list-rows.ts';
import type { Correction, IbanListState, RowState } from '../state/use-iban-list.ts';
import { FailureNotice } from './failure-notice.tsx';
import { IbanResults } from './iban-results.tsx';

interface IbanListProps {
  list: IbanListState;
  /** In the order of the IBANs; `valid` is null where a look-up failed. Undefined while loading. */
  answers: readonly Answer[] | null | undefined;
  /** Failed look-ups by index. The client's cache may have lost them. */
  failures: ReadonlyMap<number, Failure>;
  /** The whole request failed. */
  failure: Failure | null;
  onRetry: () => void;
}

type Answer = FragmentType<typeof IbanFacts> | null | undefined;

/** Null if the look-up failed: `valid` then is null with an error, which the types of pages do not have. */
export function readAnswer(answer: Answer): RowState | null {
  const facts = readFragment(IbanFacts, answer);
  return facts && facts.valid !== null ? { facts } : null;
}

export function IbanList({ list, answers, failures, failure, onRetry }: IbanListProps) {
  const field = useId();
  const notices = useRef<HTMLDivElement>(null);
  // The pressed button disappears.
  const keepFocus = (action: () => void) => () => {
    notices.current?.focus();
    action();
  };
  const entries = failure === null ? list.entries : [];
  const returnedRows = entries.map((entry, index) => createRow(entry, index, stateAt(index)));
  const rows = entries.map((entry, index) => createRow(entry, index, list.row(index, stateAt(index))));

  function stateAt(index: number): RowState {
    const answer = answers?.[index];
    if (answer === undefined) return 'waiting';
    return readAnswer(answer) ?? { failure: failures.get(index) ?? unknownFailure };
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
          {list.text === '' ? (
            <button type="button" className="link" onClick={() => list.paste(exampleList)}>
              Try an example list
            </button>
          ) : (
            <span className="hint" role="status">
              {list.isColumn
                ? 'This is the column with IBANs of the pasted table.'
                : 'Pasted IBANs are checked immediately, with one request; of a table, those of the payees.'}
            </span>
          )}
        </div>
      </form>
      <p className="hidden" role="status">
        {rows.length > 0 && summarize(rows)}
      </p>
      <div ref={notices} className="notices" aria-live="polite" tabIndex={-1}>
        {failure && <FailureNotice failure={failure} onRetry={onRetry} />}
        {list.isStale && (
          <p className="notice failed">The list was changed after this check: “Check all” checks the changed one.</p>
        )}
        {list.correction && (
          <CorrectionNotice
            correction={list.correction}
            onOthers={keepFocus(list.correctOthers)}
            onUndo={keepFocus(list.undo)}
          />
        )}
      </div>
      <IbanResults
        // Another list begins without a filter.
        key={list.checks}
        rows={rows}
        returnedRows={returnedRows}
        isStale={list.isStale}
        onRetry={list.retry}
        onCorrect={list.correct}
      />
    </>
  );
}

interface CorrectionNoticeProps {
  correction: Correction;
  onOthers: () => void;
  onUndo: () => void;
}

/** Offers the same correction for the other rows with the same wrong IBAN. */
function CorrectionNotice({ correction: { wrong, iban, count, others }, onOthers, onUndo }: CorrectionNoticeProps) {
  return (
    <div className="notice running">
      <p>
        <span className="iban">{formatIban(wrong)}</span> was replaced by{' '}
        <span className="iban">{formatIban(iban)}</span>
        {count > 1 ? ` in ${count} rows.` : '.'}
        {others > 0 && ` It is also in ${others} other ${others === 1 ? 'row' : 'rows'}.`}
      </p>
      <div className="buttons">
        {others > 0 && (
          <button type="button" className="small" onClick={onOthers}>
            Apply to the {others === 1 ? 'other one' : `${others} others`}
          </button>
        )}
        <button type="button" className="small" onClick={onUndo}>
          Undo
        </button>
      </div>
    </div>
  );
}

/** Examples of registries and banks. The third and fifth have a typing error, the last one wrong national check digits. */
const exampleList = `DE89 3704 0044 0532 0130 00
NL91ABNA0417164300
de89 3704 0044 0532 0310 00
GB29 NWBK 6016 1331 9268 19
BE68 5390 0754 7043
FR84 2004 1010 0505 0001 3M02 607`;

function summarize(rows: readonly ListRow[]): string {
  const counts = countByKind(rows);
  return counts.waiting === rows.length ? `Checking ${rows.length} …` : describeCounts(counts);
}
