import { useState } from 'react';
import type { FileRow } from '../state/check-file.ts';
import { countByKind, type KindLabels, type RowKind, sortByAttention } from '../state/list-rows.ts';
import { FileRows } from './file-rows.tsx';
import { ResultBar } from './result-bar.tsx';

/** The bar of the results beside the rows, those with findings first. */
export function FileResults({ rows, labels }: { rows: readonly FileRow[]; labels: KindLabels }) {
  const [filter, setFilter] = useState<RowKind | null>(null);
  const shown = sortByAttention(rows).filter(({ kind }) => filter === null || kind === filter);
  return (
    <div className="file-results">
      <ResultBar labels={labels} counts={countByKind(rows)} filter={filter} onFilter={setFilter} />
      <FileRows key={filter} rows={shown} />
    </div>
  );
}
