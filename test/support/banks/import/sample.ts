import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import iconv from 'iconv-lite';
import writeWorkbook from 'write-excel-file/node';
import type { BankEntry } from '../../../../src/banks/listed-bank.ts';
import { tFolder } from '../../gateway/stores/folder.ts';

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

// cspell:ignore sharedstrings

interface ArchiveOptions {
  /** The number of a compression method; the content is deflated unless it is 0. */
  method?: number;
  flags?: number;
  /** What the archive declares instead of the real size. */
  declaredBytes?: number;
  checksum?: number;
}

/** A ZIP archive with these files. */
export function tArchive(files: Readonly<Record<string, string>>, options: ArchiveOptions = {}): Buffer {
  const { method = 8, flags = 0 } = options;
  const [locals, centrals]: [Buffer[], Buffer[]] = [[], []];
  let at = 0;
  for (const [path, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const packed = method === 0 ? content : deflateRawSync(content, { level: 1 });
    const common = Buffer.alloc(26);
    common.writeUInt16LE(flags, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(options.checksum ?? crc32(content), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(options.declaredBytes ?? content.length, 18);
    common.writeUInt16LE(path.length, 22);
    const end = Buffer.alloc(14);
    end.writeUInt32LE(at, 10);
    locals.push(Buffer.from('PK\x03\x04'), common, Buffer.from(path), packed);
    centrals.push(Buffer.from('PK\x01\x02\x14\0'), common, end, Buffer.from(path));
    at += 30 + path.length + packed.length;
  }
  const directory = Buffer.concat(centrals);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(locals.length / 4, 6);
  end.writeUInt32LE(directory.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...locals, directory, Buffer.from('PK\x05\x06'), end]);
}

/** The files of a workbook with this XML of rows in its sheet, and others that replace or add files. */
export function tWorkbookFiles(rows: string, more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const type = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/worksheet';
  return {
    'xl/workbook.xml': '<workbook><sheets><sheet name="Banks" sheetId="1" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels': `<Relationships><Relationship Id="rId1" Type="${type}" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
    ...more,
  };
}

export function tRow(number: number, ...cells: readonly string[]): string {
  const columns = cells.map((text, index) => {
    const reference = `${String.fromCharCode(65 + index)}${number}`;
    return `<c r="${reference}" t="inlineStr"><is><t>${text}</t></is></c>`;
  });
  return `<row r="${number}">${columns.join('')}</row>`;
}

/** A file with this content, in a folder of its own. */
export function tFileOf(bytes: Buffer | string, name = 'x.xlsx'): string {
  const path = join(tFolder(), name);
  writeFileSync(path, bytes);
  return path;
}

/** A workbook with this XML of rows, and other files. */
export function tWorkbook(
  rows: string,
  more: Readonly<Record<string, string>> = {},
  options: ArchiveOptions = {},
): string {
  return tFileOf(tArchive(tWorkbookFiles(rows, more), options));
}

/** The file of a workbook with the texts that its cells share. */
export const sharedTexts = (xml: string) => ({ 'xl/sharedStrings.xml': `<sst>${xml}</sst>` });

/** Rows of the same bank and these cells, with `$` instead of the number of the row. */
export function repeatRow(count: number, more = ''): string {
  const row = `<row r="$"><c r="A$"><v>530</v></c><c r="B$" t="str"><v>DNBANOKK</v></c>${more}</row>`;
  return Array.from({ length: count }, (_, index) => row.replaceAll('$', `${index + 1}`)).join('');
}
