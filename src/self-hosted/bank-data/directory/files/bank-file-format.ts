import { compactBic, findBicProblems } from '../../../../iban/bic.ts';

export type TextEncoding = 'utf-8' | 'utf-16' | 'windows-1250' | 'windows-1252' | 'iso-8859-1' | 'cp852';

export type Layout =
  | { kind: 'csv'; encoding: TextEncoding; separator: ';' | '\t' }
  | { kind: 'fixed-width'; encoding: TextEncoding; widths: readonly number[] }
  | { kind: 'workbook' };

/** A title in the header row or, in a file without known titles, a position from 0. */
export type Column = string | number;

/** The trimmed fields of a row, by name in `columns`; empty if the row does not have them. */
export type Fields = Readonly<Record<string, string>>;

export interface CodeRule {
  pattern: RegExp;
  /** For messages: `8 digits`. */
  description: string;
  /** Shorter codes are padded with zeros on the left to this length. */
  padTo?: number;
  /** The same for codes that a workbook contains as numbers. */
  padNumbersTo?: number;
  /** The part of a matching code that IBANs contain; absent if they contain all of it. */
  extract?: (code: string) => string;
}

/** The format of a file that a national bank or a banking association publishes. */
export interface BankFileFormat {
  country: string;
  /** For messages: `this does not look like ...`. */
  title: string;
  /** Its publisher, the source of every record. */
  source: string;
  /** Where the publisher offers it for download: a page or the file. */
  download: string;
  /** The attribution that its terms require, or what is known of them. */
  attribution: string;
  layout: Layout;
  /** Number of columns; absent: as in the header or, without a header, in the first row. Not checked in workbooks. */
  width?: number;
  columns: {
    code: Column;
    /** The first that is not empty is used. */
    name: readonly Column[];
    bic: Column;
    zip?: Column;
    city?: Column;
    /** Used by the functions below. */
    [extra: string]: Column | readonly Column[] | undefined;
  };
  code: CodeRule;
  /** Whether a file has this format; for countries with several formats. */
  matches?: (firstLine: string) => boolean;
  /** Why a valid row is skipped, as a plural noun; null if it is imported. */
  findSkipReason?: (fields: Fields) => string | null;
  /** The problem of a row that only this format checks; null if there is none. */
  findProblem?: (fields: Fields) => string | null;
}

export function digits(length: number): CodeRule {
  return { pattern: new RegExp(`^\\d{${length}}$`), description: `${length} digits`, padNumbersTo: length };
}

/** Codes that the file contains without leading zeros. */
export function paddedDigits(min: number, length: number): CodeRule {
  return { pattern: new RegExp(`^\\d{${min},${length}}$`), description: `${min} to ${length} digits`, padTo: length };
}

/**
 * The trimmed text of a cell, with single spaces. Invisible characters, such as the marks that reverse the direction of a
 * text, are removed; control characters and line separators become spaces.
 */
export function cellText(cell: string | number): string {
  return String(cell)
    .replace(/\p{Cf}+/gu, '')
    .replace(/[\s\p{C}]+/gu, ' ')
    .trim();
}

/** In characters: what a message repeats of a file. */
export const maxQuoteLength = 300;

/** The bank code in a cell, as IBANs contain it; null if it does not follow the rule. */
export function readCode(cell: string | number, rule: CodeRule): string | null {
  const { pattern, padTo = 0, padNumbersTo = 0, extract = (whole) => whole } = rule;
  const code = typeof cell === 'number' ? String(cell).padStart(padNumbersTo, '0') : cellText(cell);
  return pattern.test(code) ? extract(code.padStart(padTo, '0')) : null;
}

/** The BIC in a text; empty if there is none, null if it is invalid. */
export function readBic(text: string): string | null {
  const bic = compactBic(text);
  return bic === '' || findBicProblems(bic).length === 0 ? bic : null;
}
