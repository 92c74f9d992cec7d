export type Encoding = 'utf-8' | 'utf-16' | 'windows-1250' | 'windows-1252' | 'iso-8859-1' | 'cp852';

export type Layout =
  | { kind: 'csv'; encoding: Encoding; separator: ';' | '\t' }
  | { kind: 'fixed-width'; encoding: Encoding; widths: readonly number[] }
  | { kind: 'workbook' };

/** Where a field stands: under a title in the header row, or at a position, from 0, in a file without known titles. */
export type Column = string | number;

/** The fields of a row that a format asks for, trimmed; empty where the row has none. */
export type Fields = Readonly<Record<string, string>>;

export interface CodeRule {
  pattern: RegExp;
  /** What the pattern asks for: `8 digits`. */
  words: string;
  /** Shorter codes get zeros on the left. */
  padTo?: number;
  /** The same, for the numbers that workbooks make of codes. */
  padNumbersTo?: number;
  /** The part of a matching code that stands in IBANs; absent: all of it. */
  take?: (code: string) => string;
}

/** One of the files that national banks and banking associations publish, and what to make of its rows. */
export interface BankFileFormat {
  country: string;
  /** As in `this does not look like ...`. */
  title: string;
  /** Who publishes it; stands in every record. */
  source: string;
  /** What its terms ask to be said, or what is known of them. */
  attribution: string;
  layout: Layout;
  /** How many columns a row has; absent: as many as the header, or else the first row. Does not bind workbooks. */
  width?: number;
  columns: {
    code: Column;
    /** The first that is not empty counts. */
    name: readonly Column[];
    bic: Column;
    zip?: Column;
    city?: Column;
    /** Asked for by the rules below. */
    [extra: string]: Column | readonly Column[] | undefined;
  };
  code: CodeRule;
  /** Whether a file of a country with several formats is of this one, by how it begins. */
  recognises?: (firstLine: string) => boolean;
  /** Why a row that is in order is not taken, as a noun that can be counted; null where it is. */
  leaveOut?: (fields: Fields) => string | null;
  /** What is wrong with a row beyond what is asked of every one; null where nothing is. */
  complain?: (fields: Fields) => string | null;
}

export function digits(length: number): CodeRule {
  return { pattern: new RegExp(`^\\d{${length}}$`), words: `${length} digits`, padNumbersTo: length };
}

/** Codes that are written without the zeros in front. */
export function paddedDigits(min: number, length: number): CodeRule {
  return { pattern: new RegExp(`^\\d{${min},${length}}$`), words: `${min} to ${length} digits`, padTo: length };
}
