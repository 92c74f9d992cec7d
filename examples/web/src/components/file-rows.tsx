import { useMemo, useState } from 'react';
import type { FileRow } from '../state/check-file.ts';
import { kindLabels } from '../state/list-rows.ts';
import { Suggestions } from './suggestions.tsx';

interface FileRowsProps {
  /** Those that are not valid come first. */
  rows: readonly FileRow[];
}

/** Heights of a row without suggestions, of one suggestion, and of the visible part, in rem; also in style.css. */
const plain = 4.5;
const perSuggestion = 1.4;
const visible = 34;

const maxSuggestions = 3;

/** Rows beyond the visible ones, so that the next ones can be reached with the Tab key. */
const margin = 5;

/** Only the visible rows are in the document: a file may have a hundred thousand. */
export function FileRows({ rows }: FileRowsProps) {
  const [scrolled, setScrolled] = useState(0);
  const [focused, setFocused] = useState(-1);
  const tops = useMemo(() => toTops(rows), [rows]);
  const topOf = (at: number) => tops[at] ?? 0;
  const rowAt = (top: number) =>
    Math.max(
      0,
      tops.findLastIndex((each) => each <= top),
    );
  const first = Math.max(0, rowAt(scrolled) - margin);
  const last = Math.min(rows.length, rowAt(scrolled + visible) + 1 + margin);
  const positions = Array.from({ length: Math.max(0, last - first) }, (_, index) => first + index);
  // The focused row stays, so that the focus is not lost.
  if (focused >= 0 && focused < first) positions.unshift(focused);
  if (focused >= last && focused < rows.length) positions.push(focused);

  return (
    <section
      className="window"
      aria-label="Rows of the file"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, the rows cannot be scrolled with the keyboard.
      tabIndex={0}
      onScroll={({ currentTarget }) => setScrolled(currentTarget.scrollTop / remOf(currentTarget))}
    >
      <ul style={{ height: `${topOf(rows.length)}rem` }}>
        {positions.map((at) => {
          const row = rows[at];
          return row ? (
            <li
              key={row.index}
              className={`file-row ${row.kind}`}
              style={{ top: `${topOf(at)}rem`, height: `${topOf(at + 1) - topOf(at)}rem` }}
              tabIndex={-1}
              aria-posinset={at + 1}
              aria-setsize={rows.length}
              onFocus={() => setFocused(at)}
              onBlur={() => setFocused(-1)}
            >
              <RowContent {...row} />
            </li>
          ) : null;
        })}
      </ul>
    </section>
  );
}

/** Where each row begins, and where the last one ends. */
function toTops(rows: readonly FileRow[]): Float64Array {
  const tops = new Float64Array(rows.length + 1);
  for (const [at, { suggestions }] of rows.entries()) {
    const { length } = suggestions;
    const lines = Math.min(length, maxSuggestions) + (length > maxSuggestions ? 1 : 0);
    tops[at + 1] = (tops[at] ?? 0) + plain + (lines > 0 ? 0.3 + lines * perSuggestion : 0);
  }
  return tops;
}

function RowContent({ position, typed, kind, payee, problem, bank, suggestions }: FileRow) {
  const text = [payee, problem || bank].filter((part) => part !== '').join(' · ');
  return (
    <>
      <span className="position">{position.toLocaleString('en')}</span>
      <span className="iban">{typed || '–'}</span>
      <p className="finding" title={text}>
        <span className="result">{kindLabels[kind]}</span> {text}
      </p>
      <Suggestions
        ibans={suggestions.slice(0, maxSuggestions)}
        furtherCount={Math.max(0, suggestions.length - maxSuggestions)}
      />
    </>
  );
}

function remOf(element: Element): number {
  return Number.parseFloat(getComputedStyle(element.ownerDocument.documentElement).fontSize);
}
