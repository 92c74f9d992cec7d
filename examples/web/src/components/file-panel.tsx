import { useId, useRef } from 'react';
import type { IbanClient } from '../state/iban-client.ts';
import { countByKind, describeCounts } from '../state/list-rows.ts';
import { useDroppedFile } from '../state/use-dropped-file.ts';
import { type FileCheck, useFileCheck } from '../state/use-file-check.ts';
import { FileResults } from './file-results.tsx';

interface FilePanelProps {
  ibans: IbanClient;
}

/** Checks the IBANs of a file: it is read in the browser, and only its IBANs are sent. */
export function FilePanel({ ibans }: FilePanelProps) {
  const check = useFileCheck(ibans);
  const source = useRef<HTMLDivElement>(null);
  // The focused field or button disappears.
  const keepFocus = () => source.current?.focus();

  function open(file: File) {
    keepFocus();
    void check.open(file);
  }

  const isDragged = useDroppedFile(open);
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
      <div aria-live="polite">
        {check.problem !== null && <p className="notice invalid">{check.problem}</p>}
        <ShortfallNotice check={check} />
      </div>
      {check.answered > 0 && <FileResults check={check} />}
    </>
  );
}

/** Not after each request: screen readers would read it each time. */
function describeProgress({ isRunning, answered, total, rows }: FileCheck): string {
  if (isRunning) return `Checking ${count(total, 'IBAN')} …`;
  return answered === 0 ? '' : `${count(rows.length, 'row')}: ${describeCounts(countByKind(rows))}`;
}

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
        <label htmlFor={field}>CSV or TSV file with IBANs</label>
        <input
          id={field}
          type="file"
          accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values,text/plain"
          aria-describedby={`${field}-hint`}
          onChange={({ target }) => {
            const [file] = target.files ?? [];
            if (file) onFile(file);
          }}
        />
        <p id={`${field}-hint`} className="hint">
          Choose a file, or drop it here. It is read in this browser: only its IBANs are sent, and no server stores the
          file.
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

const delimiterNames: Readonly<Record<string, string>> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'vertical bars',
};

function FileSummary({ check, onClose }: { check: FileCheck; onClose: () => void }) {
  const select = useId();
  const bicSelect = useId();
  const { file, columns, column, bicColumn, otherColumns, rows, total, answered, isRunning } = check;
  if (file === null) return null;
  const { delimiter, encoding } = file.table;
  return (
    <div className="file-summary">
      <p>
        <strong>{file.name ?? 'Pasted table'}</strong>{' '}
        <span className="hint">
          {count(rows.length, 'row')},{' '}
          {columns.length > 1 && `separated by ${delimiterNames[delimiter] ?? delimiter}, `}
          {encoding}
        </span>
      </p>
      <div className="actions">
        <div>
          <label htmlFor={select}>Column with the IBANs</label>
          <select id={select} value={column ?? ''} onChange={({ target }) => check.chooseColumn(Number(target.value))}>
            {column === null && <option value="">not found: choose it</option>}
            <ColumnOptions columns={columns} />
          </select>
        </div>
        {columns.length > 1 && (
          <div>
            <label htmlFor={bicSelect}>Column with the BICs</label>
            <select
              id={bicSelect}
              value={bicColumn ?? ''}
              onChange={({ target }) => check.chooseBicColumn(target.value === '' ? null : Number(target.value))}
            >
              <option value="">none</option>
              <ColumnOptions columns={columns} />
            </select>
          </div>
        )}
        {isRunning ? (
          <button type="button" onClick={check.cancel}>
            Cancel
          </button>
        ) : (
          answered < total && (
            <button type="button" className="primary" onClick={() => void check.start()}>
              {answered === 0 ? `Check ${count(total, 'IBAN')}` : `Check the other ${count(total - answered, 'IBAN')}`}
            </button>
          )
        )}
        {answered > 0 && (
          <button type="button" onClick={check.download}>
            Download the checked file
          </button>
        )}
        <button type="button" className="link" onClick={onClose}>
          Another file
        </button>
      </div>
      {otherColumns.length > 0 && <p className="hint">Not checked: the IBANs in {otherColumns.join(', ')}.</p>}
      {(isRunning || (answered > 0 && answered < total)) && (
        <div className="progress">
          <progress value={answered} max={total} aria-label="Checked IBANs" />
          <span className="elapsed">
            {answered.toLocaleString('en')} of {total.toLocaleString('en')}
          </span>
        </div>
      )}
    </div>
  );
}

function ColumnOptions({ columns }: { columns: readonly string[] }) {
  return columns.map((name, position) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the position is what identifies a column.
    <option key={position} value={position}>
      {name}
    </option>
  ));
}

function ShortfallNotice({ check }: { check: FileCheck }) {
  const { shortfall, total, answered } = check;
  if (shortfall === null || answered === total) return null;
  const { failure, failedRequests, requests } = shortfall;
  return (
    <p className="notice failed">
      {failedRequests} of {count(requests, 'request')} failed, so {count(total - answered, 'IBAN')} could not be
      checked. {failure.message}
    </p>
  );
}

/** Such as "1 row" and "3,000 rows". */
function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}
