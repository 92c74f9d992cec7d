import iconv from 'iconv-lite';
import writeWorkbook from 'write-excel-file/node';
import type { BankEntry } from '../../../../src/banks/listed-bank.ts';

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
  /** Of a text file, by the name that iconv-lite uses. */
  encoding?: string;
  bank: BankEntry;
  skipped: Readonly<Record<string, number>>;
  /** How many banks are imported, if it is not the number of rows without those that are skipped. */
  banks?: number;
  /** A row without a valid bank code, for example. */
  invalid: readonly [row: Cells, problem: string];
  /** ISO date of the list; absent if the file has none. */
  date?: string;
}

/** The bytes of a sample, with optional rows at its end. */
export function tFile({ top, rows, encode }: Sample, more: readonly Cells[] = []): Promise<Buffer> {
  return encode([...top, ...rows, ...more]);
}

/** The position of a row that is appended to a sample. */
export function tLastPlace({ top, rows, fileName }: Sample): string {
  const line = top.length + rows.length + 1;
  // Titles are no entries.
  if (/\.(json|xml)$/.test(fileName)) return `entry ${line - top.length}`;
  return fileName.endsWith('.xlsx') ? `sheet "Sheet1", row ${line}` : `line ${line}`;
}

type Encoder = Pick<Sample, 'encode' | 'encoding'>;

export function csv(encoding: string, separator: string, quote = ''): Encoder {
  return {
    encoding,
    async encode(rows) {
      const lines = rows.map((cells) => cells.map((cell) => `${quote}${cell}${quote}`).join(separator));
      return iconv.encode(`${lines.join('\r\n')}\r\n`, encoding, { addBOM: encoding === 'utf-16' });
    },
  };
}

export const fixedWidth: Encoder = {
  encoding: 'windows-1252',
  async encode(rows) {
    const widths = [8, 1, 58, 5, 35, 27, 5, 11, 2, 6, 1, 1, 8];
    const lines = rows.map((cells) => cells.map((cell, index) => String(cell).padEnd(widths[index] ?? 0)).join(''));
    return iconv.encode(`${lines.join('\r\n')}\r\n`, 'windows-1252');
  },
};

/** An object for each row but the first, which has the keys. */
export const json: Encoder = {
  encoding: 'utf-8',
  async encode([keys = [], ...rows]) {
    const objects = (rows.length > 0 ? rows : [[]]).map((row) =>
      JSON.stringify(Object.fromEntries(keys.map((key, index) => [key, row[index] ?? null]))),
    );
    return Buffer.from(`[\r\n${objects.join(',\r\n')}\r\n]\r\n`);
  },
};

/** A participant with a branch for each row but the first, which has the names of the elements, or of those in it. */
export const xml: Encoder = {
  encoding: 'utf-8',
  async encode([names = [], ...rows]) {
    const participants = (rows.length > 0 ? rows : [[]]).map((row) => {
      const elements = (element: string) =>
        names
          .map(String)
          .map((name, index) => ({
            name: name.split(' ').at(-1),
            of: name.split(' ').at(-2) ?? 'branch',
            text: row[index],
          }))
          .filter(({ of }) => of === element)
          .map(({ name, text = '' }) => `    <${name}>${String(text).replaceAll('&', '&amp;')}</${name}>\r\n`);
      const branch = `    <branch type="a">\r\n${elements('branch').join('')}    </branch>\r\n`;
      return `  <participant>\r\n${elements('participant').join('')}${branch}  </participant>\r\n`;
    });
    return Buffer.from(`<?xml version="1.0" encoding="utf-8"?>\r\n<list>\r\n${participants.join('')}</list>\r\n`);
  },
};

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
