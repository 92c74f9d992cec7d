import { useEffect, useId, useRef } from 'react';
import { countByKind, describeCounts, kindLabels } from '../state/list-rows.ts';
import { toViewHash } from '../state/use-address.ts';
import { useDroppedFile } from '../state/use-dropped-file.ts';
import { type FileCheck, useFileCheck } from '../state/use-file-check.ts';
import { FileResults } from './file-results.tsx';

/** Sends a file to `POST /check`, and shows what was found. */
export function FilePanel() {
  const check = useFileCheck();
  const source = useRef<HTMLDivElement>(null);
  // The focused field or button disappears.
  const keepFocus = () => source.current?.focus();

  function open(file: File) {
    keepFocus();
    check.open(file);
  }

  const isDragged = useDroppedFile((file) => {
    location.hash = toViewHash('file');
    open(file);
  });
  return (
    <>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields only. */}
      <div ref={source} role="group" aria-label="File" tabIndex={-1}>
        {check.file === null ? (
          <FileSource
            isDragged={isDragged}
            onFile={open}
            onTable={(text) => {
              keepFocus();
              check.paste(text);
            }}
          />
        ) : (
          <FileSummary
            check={check}
            onClose={() => {
              keepFocus();
              check.close();
            }}
          />
        )}
      </div>
      <p className="hidden" role="status">
        {describeProgress(check)}
      </p>
      <div id="file-problem" aria-live="polite">
        {check.problem !== null && <p className="notice invalid">{check.problem}</p>}
      </div>
      {check.outdatedLists.length > 0 && (
        <p className="hint">Compared with bank lists that are out of date: {check.outdatedLists.join(', ')}</p>
      )}
      {check.rows !== null && check.rows.length > 0 && (
        <FileResults rows={check.rows} labels={check.summary === null ? kindLabels : findingLabels} />
      )}
    </>
  );
}

/** Not after each request: screen readers would read it each time. */
function describeProgress({ isRunning, rows, summary }: FileCheck): string {
  if (isRunning) return 'Checking the file …';
  if (rows === null) return '';
  if (summary !== null) return `${summary}. ${countRows(rows, summary)}`;
  return rows.length === 0 ? 'No findings' : `${countRows(rows, summary)}: ${describeCounts(countByKind(rows))}`;
}

/** Those of a payment message are findings, of which its summary says how many payments they are about. */
function countRows(rows: FileCheck['rows'], summary: string | null): string {
  if (rows === null) return '';
  if (summary === null) return count(rows.length, 'row');
  return rows.length === 0 ? 'No findings' : count(rows.length, 'finding');
}

/** Findings of a payment message are not counted in payments. */
const findingLabels = { ...kindLabels, error: 'errors', warning: 'warnings', noted: 'hints' };

interface FileSourceProps {
  isDragged: boolean;
  onFile: (file: File) => void;
  onTable: (text: string) => void;
}

function FileSource({ isDragged, onFile, onTable }: FileSourceProps) {
  const field = useId();
  const table = useId();
  return (
    <div className="file-source">
      <div className={isDragged ? 'drop dragged' : 'drop'}>
        <label htmlFor={field}>File with IBANs</label>
        <input
          id={field}
          type="file"
          accept=".csv,.tsv,.txt,.xml,text/csv,text/tab-separated-values,text/plain,application/xml"
          aria-describedby={`${field}-hint`}
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file) onFile(file);
          }}
        />
        <p id={`${field}-hint`} className="hint">
          Choose a CSV, TSV or payment message (XML), or drop it here. It is sent to the gateway, which does not store
          it.
        </p>
      </div>
      <div>
        <label htmlFor={table}>Or paste a table</label>
        <textarea
          id={table}
          rows={3}
          spellCheck={false}
          placeholder="Cells from a spreadsheet, with or without titles"
          value=""
          onChange={({ target }) => {
            if (target.value.trim() !== '') onTable(target.value);
          }}
        />
      </div>
    </div>
  );
}

function FileSummary({ check, onClose }: { check: FileCheck; onClose: () => void }) {
  const { file, rows, summary, arrived, isRunning } = check;
  if (file === null) return null;
  return (
    <div className="file-summary">
      <p>
        <strong>{file.name ?? 'Pasted table'}</strong> <span className="hint">{countRows(rows, summary)}</span>
      </p>
      {summary !== null && <p>{summary}</p>}
      <div className="actions">
        <ColumnField
          label="Column with the IBANs"
          value={check.column}
          problem={check.problem}
          onChange={(column) => check.nameColumns({ column })}
        />
        <ColumnField
          label="Column with the BICs"
          value={check.bicColumn}
          problem={check.problem}
          onChange={(bicColumn) => check.nameColumns({ bicColumn })}
        />
        {isRunning ? (
          <button type="button" onClick={check.cancel}>
            Cancel the check
          </button>
        ) : (
          <button type="button" className="primary" onClick={() => void check.start()}>
            {rows === null ? 'Check the file' : 'Check it again'}
          </button>
        )}
        {rows !== null && (
          <button type="button" onClick={() => void check.download()}>
            Download the checked file
          </button>
        )}
        <button type="button" className="link" onClick={onClose}>
          Another file
        </button>
      </div>
      {isRunning && (
        <>
          <div className="progress">
            <progress aria-label="Checked rows" />
            <span className="elapsed">{count(arrived, 'row')}</span>
          </div>
          <p className="hint">
            If you cancel, no results are shown. IBANs that were looked up are not paid for again in a later check.
          </p>
        </>
      )}
    </div>
  );
}

interface ColumnFieldProps {
  label: string;
  value: string;
  /** The problem of the check, which belongs to this field if it names the value. */
  problem: string | null;
  onChange: (name: string) => void;
}

function ColumnField({ label, value, problem, onChange }: ColumnFieldProps) {
  const field = useId();
  const input = useRef<HTMLInputElement>(null);
  const isInvalid = value !== '' && problem?.includes(JSON.stringify(value)) === true;
  useEffect(() => {
    if (isInvalid) input.current?.focus();
  }, [isInvalid]);
  return (
    <div>
      <label htmlFor={field}>{label}</label>
      <input
        ref={input}
        id={field}
        value={value}
        {...(isInvalid && { 'aria-invalid': true, 'aria-describedby': 'file-problem' })}
        placeholder="found by content"
        autoComplete="off"
        onChange={({ target }) => onChange(target.value)}
      />
    </div>
  );
}

/** Such as "1 row" and "3,000 rows". */
function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}
