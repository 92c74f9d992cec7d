import iconv from 'iconv-lite';
import writeWorkbook from 'write-excel-file/node';
import type { BankEntry } from '../../../../../src/bank-lists/listed-bank.ts';

export type Cells = readonly (string | number)[];

/** A small file as its publisher would create it, and the expected result. */
export interface Sample {
  title: string;
  country: string;
  fileName: string;
  /** The header and the rows above it. */
  top: readonly Cells[];
  rows: readonly Cells[];
  encode(rows: readonly Cells[]): Promise<Buffer>;
  bank: BankEntry;
  skipped: Readonly<Record<string, number>>;
  invalid: readonly [row: Cells, problem: string];
}

/** The bytes of a sample, with optional rows at its end. */
export function tFile({ top, rows, encode }: Sample, more: readonly Cells[] = []): Promise<Buffer> {
  return encode([...top, ...rows, ...more]);
}

/** The position of a row that is appended to a sample. */
export function tLastPlace({ top, rows, fileName }: Sample): string {
  const line = top.length + rows.length + 1;
  return fileName.endsWith('.xlsx') ? `${fileName}, sheet "Sheet1", row ${line}` : `${fileName}, line ${line}`;
}

export function csv(encoding: string, separator: string, quote = '') {
  return async (rows: readonly Cells[]) => {
    const lines = rows.map((cells) => cells.map((cell) => `${quote}${cell}${quote}`).join(separator));
    return iconv.encode(`${lines.join('\r\n')}\r\n`, encoding, { addBOM: encoding === 'utf-16' });
  };
}

export async function fixedWidth(rows: readonly Cells[]): Promise<Buffer> {
  const widths = [8, 1, 58, 5, 35, 27, 5, 11, 2, 6, 1, 1, 8];
  const lines = rows.map((cells) => cells.map((cell, index) => String(cell).padEnd(widths[index] ?? 0)).join(''));
  return iconv.encode(`${lines.join('\r\n')}\r\n`, 'windows-1252');
}

export async function workbook(rows: readonly Cells[]): Promise<Buffer> {
  const cells = rows.map((row) => row.map((value) => (value === '' ? null : { value })));
  return writeWorkbook(cells, {}).toBuffer();
}

export function entry(bankCode: string, name: string, bic: string, zip = '', city = ''): BankEntry {
  return { bankCode, name, zip, city, bic };
}

/** A row with this number of columns, empty except for these cells. */
export function wide(width: number, cells: Readonly<Record<number, string>>): string[] {
  return Array.from({ length: width }, (_, index) => cells[index] ?? '');
}

export function wrongCode(code: string, rule: string): string {
  return `the bank code is "${code}"; it must be ${rule}`;
}

export const noCode = 'rows without a bank code';
export const wrongBic = 'it must have 8 or 11 letters and digits, with a country code at positions 5 and 6';
