import { useState } from 'react';
import type { FileRow } from '../state/check-file.ts';
import { kindLabels } from '../state/list-rows.ts';
import { Suggestions } from './suggestions.tsx';

interface FileRowsProps {
  /** Those that are not valid come first. */
  rows: readonly FileRow[];
}

/** Heights of rows and of the visible part, in rem; also in style.css. */
const tall = 7.25;
const short = 4.5;
const visible = 34;

/** Rows beyond the visible ones, so that the next ones can be reached with the Tab key. */
const margin = 5;

/** Only the visible rows are in the document: a file may have a hundred thousand. */
export function FileRows({ rows }: FileRowsProps) {
  const [scrolled, setScrolled] = useState(0);
  const [focused, setFocused] = useState(-1);
  const tallCount = rows.filter(isTall).length;
  const topOf = (at: number) => Math.min(at, tallCount) * tall + Math.max(0, at - tallCount) * short;
  const rowAt = (top: number) =>
    Math.floor(top < tallCount * tall ? top / tall : tallCount + (top - tallCount * tall) / short);
  const first = Math.max(0, rowAt(scrolled) - margin);
  const last = Math.min(rows.length, rowAt(scrolled + visible) + margin);
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
              style={{ top: `${topOf(at)}rem`, height: `${isTall(row) ? tall : short}rem` }}
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

/** Has place for suggestions. */
function isTall({ kind }: FileRow): boolean {
  return kind === 'invalid';
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
      <Suggestions ibans={suggestions} />
    </>
  );
}

function remOf(element: Element): number {
  return Number.parseFloat(getComputedStyle(element.ownerDocument.documentElement).fontSize);
}
