import { count, plural } from '../base/process/terminal.ts';

/** The most serious first. */
export const severities = ['error', 'warning', 'hint'] as const;
export type Severity = (typeof severities)[number];

/** Where: row (1-based, of the file, the title row counts) and column title for a table; line and XPath for a pain message. */
export type Place = { row: number; column: string | null } | { line: number; xpath: string };

export interface Finding {
  code: string;
  severity: Severity;
  place: Place;
  message: string;
  suggestion: string | null;
  /** The payment of a message that it is in; null: it is about the whole message. Only for people. */
  about?: AboutPayment | null;
}

/** A payment in the words of those who pay. */
export interface AboutPayment {
  /** Null: it is about all payments of a batch. */
  payee: string | null;
  amount: string;
  /** The end-to-end identification, or that of the batch. */
  id: string;
}

/** Counts findings by their code. */
export class FindingCounts {
  readonly #byCode = new Map<string, { severity: Severity; count: number; first: number[] }>();

  /** @param place number of the row or line */
  add(code: string, severity: Severity, place: number): void {
    this.#add(code, severity, 1, [place]);
  }

  /** Those of another table. */
  addAll(others: FindingCounts): void {
    for (const [code, { severity, count: number, first }] of others.#byCode) this.#add(code, severity, number, first);
  }

  #add(code: string, severity: Severity, number: number, first: readonly number[]): void {
    const found = this.#byCode.get(code) ?? { severity, count: 0, first: [] };
    this.#byCode.set(code, found);
    found.count += number;
    if (found.first.length < maxListedPlaces) found.first.push(...first.slice(0, maxListedPlaces - found.first.length));
  }

  count(code: string): number {
    return this.#byCode.get(code)?.count ?? 0;
  }

  /** The codes that were found, with this severity or a more serious one. */
  codes(least: Severity = 'hint'): string[] {
    return [...this.#byCode].flatMap(([code, { severity }]) => (rank(severity) <= rank(least) ? [code] : []));
  }

  /** Lines for people. @param noun such as row */
  describe(noun: string): string[] {
    if (this.#byCode.size === 0) return [];
    const codes = [...this.#byCode].sort(
      ([, one], [, other]) => rank(one.severity) - rank(other.severity) || other.count - one.count,
    );
    const lines = codes.map(([code, { count: number, severity, first }]) => {
      const more = number > first.length ? ', ...' : '';
      const listed = `${plural(first.length, noun)} ${first.join(', ')}${more}`;
      return describeCount(number, `${code} (${severity}): ${listed}`);
    });
    return ['  findings', ...lines];
  }
}

/** A line of a summary. */
export function describeCount(number: number, label: string): string {
  return `  ${count(number).padStart(11)}  ${label}`;
}

function rank(severity: Severity): number {
  return severities.indexOf(severity);
}

const maxListedPlaces = 5;
