import { useState } from 'react';
import type { FileRow } from '../state/check-file.ts';
import { countByKind, type RowKind, sortByAttention } from '../state/list-rows.ts';
import { FileRows } from './file-rows.tsx';
import { ResultBar } from './result-bar.tsx';

/** The bar of the results beside the rows, those with findings first. */
export function FileResults({ rows }: { rows: readonly FileRow[] }) {
  const [filter, setFilter] = useState<RowKind | null>(null);
  const shown = sortByAttention(rows).filter(({ kind }) => filter === null || kind === filter);
  return (
    <div className="file-results">
      <ResultBar counts={countByKind(rows)} filter={filter} onFilter={setFilter} />
      <FileRows key={filter} rows={shown} />
    </div>
  );
}
