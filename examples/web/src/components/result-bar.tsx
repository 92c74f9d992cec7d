import { type KindLabels, kindLabels, kinds, type RowKind } from '../state/list-rows.ts';

interface ResultBarProps {
  labels?: KindLabels;
  counts: Readonly<Record<RowKind, number>>;
  /** The kind of the shown rows; null: all. */
  filter: RowKind | null;
  onFilter: (filter: RowKind | null) => void;
}

/** A stacked bar. Its parts filter the list. */
export function ResultBar({ labels = kindLabels, counts, filter, onFilter }: ResultBarProps) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for form fields; these are filters.
    <div className="bar" role="group" aria-label="Show only">
      {kinds
        .filter((kind) => counts[kind] > 0)
        .map((kind) => (
          <button
            key={kind}
            type="button"
            className={kind}
            style={{ flexGrow: counts[kind] }}
            aria-pressed={filter === kind}
            onClick={() => onFilter(filter === kind ? null : kind)}
          >
            {counts[kind].toLocaleString('en')} {labels[kind]}
          </button>
        ))}
    </div>
  );
}
