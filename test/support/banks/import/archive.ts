import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateRawSync } from 'node:zlib';
import { tFolder } from '../../gateway/stores/folder.ts';

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
