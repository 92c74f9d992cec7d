import { compactBic, findBicProblems } from '../../../iban/bic.ts';
import type { BankEntry } from '../../listed-bank.ts';
import type { Row } from './bank-file.ts';
import type { Cadence } from './list-date.ts';

/** The encoding of a published file; copies in UTF-8 or UTF-16 are recognized, too. */
export type TextEncoding = 'utf-8' | 'utf-16' | 'windows-1250' | 'windows-1252' | 'windows-1257' | 'cp852';

/** The letters beyond a to z that names may have, where other encodings would be decoded to others. */
type Alphabet = string;

export type Layout =
  | {
      kind: 'csv';
      encoding: TextEncoding;
      separator: ';' | '\t' | ',';
      /** Whether all cells are quoted, and may contain line breaks. */
      isQuoted?: boolean;
      alphabet?: Alphabet;
    }
  | { kind: 'fixed-width'; encoding: TextEncoding; widths: readonly number[]; alphabet?: Alphabet }
  /** An array of objects, whose keys are the titles. */
  | { kind: 'json'; encoding: TextEncoding }
  /** Each `row` in a `group` is a row. Titles are the names of the elements with a text, as `row NAME` and `group NAME`. */
  | { kind: 'xml'; encoding: TextEncoding; group: string; row: string }
  | { kind: 'workbook' };

/** Why a row of a shared file is skipped. */
export const ofOtherCountry = 'banks of other countries';

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
  cadence: Cadence;
  /** Whether it lists all bank codes that IBANs of the country contain. */
  isComplete: boolean;
  /** Whether the same file has the banks of other countries, which it names in each row. */
  isShared?: boolean;
  layout: Layout;
  /** Number of columns; absent: as in the header or, without a header, in the first row. Not checked in workbooks. */
  width?: number;
  /** If a field has several columns, the first that is not empty is used, and at least one must have its title. */
  columns: {
    code: Column;
    /** The last bank code of a range that starts with `code`. */
    lastCode?: Column;
    name: readonly Column[];
    /** Absent in lists without BICs. */
    bic?: Column | readonly Column[];
    zip?: Column;
    city?: Column;
    accountCheckMethod?: Column;
    ibanRule?: Column;
    /** The date of the list, in each row. */
    listDate?: Column;
    /** Used by the functions below. */
    [extra: string]: Column | readonly Column[] | undefined;
  };
  /** The fields that a file may have no title for. */
  optional?: readonly string[];
  code: CodeRule;
  /** The date of the list in the name of the file, as year, month and day, where it is written unlike others. */
  dateInName?: RegExp;
  /** Whether the first rows are of this format, where the titles do not show it. */
  matches?: (top: readonly Row[]) => boolean;
  /**
   * For a file with one country after the other: the first country, and a function that returns the country that begins at
   * a row.
   */
  sections?: { first: string; find: (row: Row) => string | null };
  /** Why a valid row is skipped, as a plural noun; null if it is imported. */
  findSkipReason?: (fields: Fields) => string | null;
  /** The problem of a row that only this format checks; null if there is none. */
  findProblem?: (fields: Fields) => string | null;
  /** The banks to be imported, of all banks in the file. */
  complete?: (entries: readonly BankEntry[]) => BankEntry[];
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

/** The BIC in a text; empty if there is none, also for `-`, `/` and `N/A`, null if it is invalid. */
export function readBic(text: string): string | null {
  if (/^(?:[^\p{L}\p{N}]*|n\/?a)$/iu.test(text)) return '';
  const bic = compactBic(text);
  return bic === '' || findBicProblems(bic).length === 0 ? bic : null;
}
