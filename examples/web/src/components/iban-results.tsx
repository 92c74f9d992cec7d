import { useState } from 'react';
import { countByKind, type ListRow, type RowKind, sortByAttention } from '../state/list-rows.ts';
import { ExportButtons } from './export-buttons.tsx';
import { IbanRow } from './iban-row.tsx';
import { ResultBar } from './result-bar.tsx';

interface IbanResultsProps {
  rows: readonly ListRow[];
  /** The same rows as the request returned them: a row keeps its place when it is corrected. */
  returnedRows: readonly ListRow[];
  /** They are of an earlier text. */
  isStale: boolean;
  onRetry: (index: number) => void;
  onCorrect: (index: number, iban: string) => void;
}

export function IbanResults({ rows, returnedRows, isStale, onRetry, onCorrect }: IbanResultsProps) {
  const [chosen, setChosen] = useState<RowKind | null>(null);
  const counts = countByKind(rows);
  const filter = chosen !== null && counts[chosen] > 0 ? chosen : null;
  const sorted = sortByAttention(returnedRows).flatMap(({ index }) => rows[index] ?? []);
  const shown = sorted.filter(({ kind }) => filter === null || kind === filter);
  if (rows.length === 0) return null;
  return (
    <div className={isStale ? 'results stale' : 'results'}>
      <ResultBar counts={counts} filter={filter} onFilter={setChosen} />
      {counts.waiting < rows.length && (
        <div className="actions">
          <span className="hint">
            {filter === null ? `All ${rows.length}` : `${shown.length} of ${rows.length}`}
            {filter !== null && (
              <button type="button" className="link" onClick={() => setChosen(null)}>
                Show all
              </button>
            )}
          </span>
          <ExportButtons rows={shown} />
        </div>
      )}
      <ol className="rows" aria-label="Results">
        {shown.map((row) => (
          <IbanRow
            key={row.index}
            row={row}
            onRetry={() => onRetry(row.index)}
            onCorrect={(iban) => onCorrect(row.index, iban)}
          />
        ))}
      </ol>
    </div>
  );
}
