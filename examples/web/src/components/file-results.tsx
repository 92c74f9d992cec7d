import { useState } from 'react';
import { countByKind, type RowKind, sortByAttention } from '../state/list-rows.ts';
import type { FileCheck, FileRow } from '../state/use-file-check.ts';
import { FileRows } from './file-rows.tsx';
import { ResultBar } from './result-bar.tsx';

/** The bar of the results beside the rows, those with findings first. */
export function FileResults({ check }: { check: FileCheck }) {
  const [chosen, setChosen] = useState<RowKind | null>(null);
  const { rows, returnedRows } = check;
  const counts = countByKind(rows);
  const filter = chosen !== null && counts[chosen] > 0 ? chosen : null;
  const shown = sortByAttention(returnedRows).flatMap(({ index, kind }): PlacedRow[] => {
    const row = rows[index];
    return row && (filter === null || row.kind === filter) ? [{ row, isTall: kind === 'invalid' }] : [];
  });
  return (
    <div className="file-results">
      <ResultBar counts={counts} filter={filter} onFilter={setChosen} />
      <FileRows key={filter} rows={shown} onCorrect={check.correct} />
    </div>
  );
}

export interface PlacedRow {
  row: FileRow;
  /** Has place for suggestions. Tall rows come first. */
  isTall: boolean;
}
