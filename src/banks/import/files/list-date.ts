import { isIsoDate, isoDateOf } from '../../../base/calendar-period.ts';
import type { Row } from './bank-file.ts';

/** How often a publisher renews its list. */
export interface Cadence {
  /** For the documentation: `monthly`. */
  name: string;
  /** The last day of a list, by its date and the day of its import; all are ISO dates. */
  lastDay(date: string, importDay: string): string;
}

/** A list that is published every day, or after each change, has no last day: after three months it is taken for old. */
const monthsWithoutLastDay = 3;

/** A list may stay unchanged for months, but an older one is probably not the present list of its publisher. */
const maxMonthsUnchanged = 12;

export const cadences = {
  daily: { name: 'daily', lastDay: (date) => addMonths(date, monthsWithoutLastDay) },
  onChange: {
    name: 'after each change',
    lastDay: (date, importDay) =>
      date < addMonths(importDay, -maxMonthsUnchanged) ? date : addMonths(importDay, monthsWithoutLastDay),
  },
  monthly: { name: 'monthly', lastDay: (date) => addMonths(date, 1) },
  calendarMonth: {
    name: 'on the first working day of a month',
    lastDay: (date) => isoDate(yearOf(date), monthOf(date) + 1, 0),
  },
  /** The Bundesbank's lists start on the Monday after the first Saturday of March, June, September and December. */
  quarterly: { name: 'quarterly', lastDay: lastDayOfQuarterlyList },
} satisfies Record<string, Cadence>;

function addMonths(date: string, months: number): string {
  const [year, month] = [yearOf(date), monthOf(date) + months];
  const lastOfMonth = isoDate(year, month + 1, 0);
  const sameDay = isoDate(year, month, Number(date.slice(8)));
  return sameDay < lastOfMonth ? sameDay : lastOfMonth;
}

function lastDayOfQuarterlyList(date: string): string {
  // Those of this year, and the first of the next one.
  const starts = [3, 6, 9, 12, 15].map((month) => startOfQuarterlyList(yearOf(date), month));
  const [next = ''] = starts.filter((start) => start > date);
  return isoDate(yearOf(next), monthOf(next), Number(next.slice(8)) - 1);
}

function startOfQuarterlyList(year: number, month: number): string {
  const weekdayOfFirst = new Date(Date.UTC(year, month - 1, 1)).getUTCDay();
  // Saturday is 6; the Monday after it comes two days later.
  return isoDate(year, month, 1 + (6 - weekdayOfFirst) + 2);
}

const yearOf = (date: string) => Number(date.slice(0, 4));
const monthOf = (date: string) => Number(date.slice(5, 7));

/** Months from 1; a month or day beyond the end continues in the next year or month, day 0 is the last of the month before. */
function isoDate(year: number, month: number, day: number): string {
  return isoDateOf(Date.UTC(year, month - 1, day));
}

/** The latest date that a list may have: publishers offer some lists before their first day. */
export function latestDate(today: string): string {
  return addMonths(today, maxMonthsAhead);
}

const maxMonthsAhead = 3;

/**
 * The date of a list in the rows above its banks: the latest in them, since notes about terms may have older ones. Null
 * without a date from the year 2000 to today: a later one may be that of the next list.
 */
export function findDateInRows(rows: readonly Row[], today: string): string | null {
  return latest(
    rows.flatMap(({ cells }) => cells.flatMap((cell) => findDates(String(cell)))),
    today,
  );
}

/** The date of a list in the name of its file, as `findDateInRows`. */
export function findDateInName(name: string, pattern: RegExp | undefined, today: string): string | null {
  const [, year = '', month = '', day = ''] = pattern?.exec(name) ?? [];
  const date = toDate(year.padStart(4, '20'), month, day);
  return latest(date === null ? findDates(name) : [date], today);
}

/** The date that most rows have, because one row may have a typing error; as `findDateInRows`. */
export function mostFrequentDate(counts: ReadonlyMap<string, number>, today: string): string | null {
  const [[text] = ['']] = [...counts].sort(([, a], [, b]) => b - a);
  return latest(findDates(text), today);
}

function latest(dates: readonly string[], today: string): string | null {
  const possible = dates.filter((date) => date >= '2000-01-01' && date <= today);
  return possible.sort().at(-1) ?? null;
}

/** All dates in a text with digits, in the notations of European publishers: the day comes before the month. */
function findDates(text: string): string[] {
  const yearFirst = text.matchAll(/(?<!\d)(\d{4})([-./ ]?)(\d\d)\2(\d\d)(?!\d)/g);
  const dayFirst = text.matchAll(/(?<!\d)(\d{1,2})([-./])\s?(\d{1,2})\2\s?(\d{4})(?!\d)/g);
  const timestamps = text.matchAll(/(?<!\d)(20\d\d)(\d\d)(\d\d)\d{4,9}(?!\d)/g);
  return [
    ...Array.from(yearFirst, ([, year = '', , month = '', day = '']) => toDate(year, month, day)),
    ...Array.from(dayFirst, ([, day = '', , month = '', year = '']) => toDate(year, month, day)),
    ...Array.from(timestamps, ([, year = '', month = '', day = '']) => toDate(year, month, day)),
  ].filter((date) => date !== null);
}

/** Null for a day that the calendar does not have. */
function toDate(year: string, month: string, day: string): string | null {
  const text = [year, month.padStart(2, '0'), day.padStart(2, '0')].join('-');
  return isIsoDate(text) ? text : null;
}
