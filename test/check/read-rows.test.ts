import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, it, vi } from 'vitest';
import writeWorkbook from 'write-excel-file/node';
import type { TextEncoding } from '../../src/check/encodings.ts';
import type { Cells } from '../../src/check/iban-cells.ts';
import { openPaymentFile } from '../../src/check/open-file.ts';
import { readTables } from '../../src/check/read-rows.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';
import { tIban } from '../support/ibans.ts';

async function read(content: string | Buffer, encoding: TextEncoding | null = null) {
  const path = join(tFolder(), 'file');
  writeFileSync(path, content);
  const file = await openPaymentFile(path);
  const rows: Cells[] = [];
  try {
    const [{ groups, style }] = await readTables(file, encoding);
    for await (const group of groups) rows.push(...group);
    return { rows, style: { ...style }, kind: file.kind };
  } catch (error) {
    // What was read before.
    throw Object.assign(error as Error, { rows });
  } finally {
    file.close();
  }
}

const iban = tIban(1);

describe('a text is parsed in pieces', () => {
  it('without a character that is split', async () => {
    const content = `IBAN\n${'🖋'.repeat(5_000)}\n`;
    expect((await read(content)).rows[1]).toEqual(['🖋'.repeat(5_000)]);
  });
});

describe('a table is bounded', () => {
  it.each([
    ['1,001 columns', `${'x,'.repeat(1_000)}x\n`],
    ['1,001 columns of which all are empty', `${','.repeat(1_000)}\n`],
    ['a row of commas that is longer than a row may be', `${','.repeat(900_000)}${iban}\n`],
    ['many columns of texts', `${'some text;'.repeat(90_000)}\n`],
  ])('to 1,000 columns: %s', async (_, row) => {
    const delimiter = row.includes(';') ? ';' : ',';
    const before = [['Name', 'IBAN'], ...Array.from({ length: 30 }, (_, n) => [`P${n}`, iban])];
    const content = `${before.map((cells) => cells.join(delimiter)).join('\n')}\n${row}more\n`;
    const message = 'row 32: more than 1,000 columns, the limit for a table; remove columns that are not needed';
    await expect(read(content)).rejects.toMatchObject({ message: expect.stringContaining(message), rows: before });
  });

  it('to 1,000 columns, which it may have', async () => {
    const wide = `${'x,'.repeat(999)}x`;
    const { rows } = await read(`IBAN\n${iban}\n${wide}\n`);
    expect(rows[2]).toHaveLength(1_000);
  });

  it('to 1,000 columns in a workbook, too', async () => {
    const sheet = [['IBAN'], [iban, ...Array(1_000).fill('x')]];
    await expect(read(await writeWorkbook(sheet).toBuffer())).rejects.toThrow('row 2: more than 1,000 columns');
    const fits = await read(await writeWorkbook([['IBAN'], [iban, ...Array(999).fill('x')]]).toBuffer());
    expect(fits.rows[1]).toHaveLength(1_000);
  });

  it('to 100,000 bytes in a row', async () => {
    const long = 'x'.repeat(100_001);
    await expect(read(`IBAN\n${iban}\n${long}\n`)).rejects.toThrow(
      /row 3: more than 100,000 bytes, the limit for a row; a quotation mark may be opened and never closed$/,
    );
  });
});

describe('the delimiter', () => {
  it.each([',', ';', '\t', '|'])('%j is found', async (delimiter) => {
    const lines = [
      ['Name', 'IBAN', 'Amount'],
      ['Anna', iban, '1'],
      ['Bob', iban, '2'],
    ];
    const { rows, style } = await read(lines.map((cells) => cells.join(delimiter)).join('\n'));
    expect(rows).toEqual(lines);
    expect(style.delimiter).toBe(delimiter);
  });

  it('is the one beside the IBANs, not the comma of amounts', async () => {
    const { rows } = await read(`Name;IBAN;Amount\nAnna, Bob;${iban};12,50\nCara, Dora;${iban};1,00\n`);
    expect(rows[1]).toEqual(['Anna, Bob', iban, '12,50']);
  });

  it('makes a table: cells of several lines have no other one', async () => {
    const text = `Name,Details\nAnna,"Anna Muster\n${iban}\nCommerzbank"\nBob,"${iban}\nING"\nCara,x\n`;
    const { rows } = await read(text);
    expect(rows[1]).toEqual(['Anna', `Anna Muster\n${iban}\nCommerzbank`]);
    expect(rows).toHaveLength(4);
  });

  it('may be named by Excel', async () => {
    expect((await read(`sep=|\nName|IBAN\nAnna|x\n`)).rows).toEqual([
      ['sep=', ''],
      ['Name', 'IBAN'],
      ['Anna', 'x'],
    ]);
  });

  it('is not needed for one column', async () => {
    expect((await read(`${iban}\r\n${iban}\r\n`)).rows).toEqual([[iban], [iban]]);
  });
});

describe('the encoding', () => {
  const text = `Name;IBAN\r\nMüller & Söhne;${iban}\r\n`;
  it.each([
    ['UTF-8', Buffer.from(text), false],
    ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${text}`), true],
    ['UTF-16LE with a byte order mark', iconv.encode(text, 'utf-16le', { addBOM: true }), true],
    ['UTF-16LE without one', iconv.encode(text, 'utf-16le'), true],
    ['UTF-16BE', iconv.encode(text, 'utf-16be', { addBOM: true }), true],
    ['Windows-1252', iconv.encode(text, 'windows-1252'), true],
  ])('%s is recognized', async (_, content, hasByteOrderMark) => {
    const { rows, style } = await read(content);
    expect(rows).toEqual([
      ['Name', 'IBAN'],
      ['Müller & Söhne', iban],
    ]);
    expect(style).toMatchObject({ hasByteOrderMark, lineEnd: '\r\n' });
  });

  it('is found behind a long part in ASCII, and across chunks', async () => {
    const long = `Name;IBAN\n${`Anna;${iban}\n`.repeat(5_000)}`;
    for (const encoding of ['utf-8', 'windows-1252']) {
      const { rows } = await read(iconv.encode(`${long}Müller;${iban}\n`, encoding));
      expect(rows.at(-1)).toEqual(['Müller', iban]);
    }
  });

  it('must be the same in the whole file', async () => {
    const mixed = Buffer.concat([Buffer.from(`Müller;${iban}\n`), iconv.encode(`Müller;${iban}\n`, 'windows-1252')]);
    const rest = Buffer.from(`Anna;${iban}\n`.repeat(5_000));
    await expect(read(Buffer.concat([Buffer.from(`Müller;${iban}\n`), rest, mixed]))).rejects.toThrow('not UTF-8');
  });
});

describe('the rows', () => {
  it('have the cells that are in quotation marks, with their line breaks', async () => {
    const { rows } = await read(`Name,IBAN\n"Anna\r\nMuster, ""AM""",${iban}\nBob "B",${iban}\n`);
    expect(rows).toEqual([
      ['Name', 'IBAN'],
      ['Anna\r\nMuster, "AM"', iban],
      ['Bob "B"', iban],
    ]);
  });

  it('are as long as they are, and blank ones are kept', async () => {
    const { rows } = await read(`Name,IBAN\n\nAnna,${iban},x,y\nBob\n`);
    expect(rows).toEqual([['Name', 'IBAN'], [''], ['Anna', iban, 'x', 'y'], ['Bob']]);
  });

  it('create no error where they are shorter or longer than the first one', async () => {
    const createStack = vi.spyOn(Error, 'captureStackTrace');
    const { rows } = await read(`Name,IBAN\n${' \n'.repeat(500)}${'a,b,c\n'.repeat(500)}`);
    expect(rows).toHaveLength(1_001);
    expect(createStack).not.toHaveBeenCalled();
  });

  it('end at a quotation mark that is not closed, with the number of the row', async () => {
    const content = `Name,IBAN\nAnna,${iban}\n"Bob,${iban}\n${`Cara,${iban}\n`.repeat(3)}`;
    await expect(read(content)).rejects.toThrow('row 3: a quotation mark is opened and never closed');
  });

  it('of a workbook have numbers, and gaps are kept', async () => {
    const sheet = [['Name', 'IBAN', 'Amount'], [], ['Anna', iban, -12.5]];
    const { rows, kind } = await read(await writeWorkbook(sheet).toBuffer());
    expect(kind).toBe('workbook');
    expect(rows.filter((row) => row.length > 0)).toEqual([
      ['Name', 'IBAN', 'Amount'],
      ['Anna', iban, -12.5],
    ]);
    expect(rows[2]).toEqual(['Anna', iban, -12.5]);
  });
});

describe('a file is refused with a reason', () => {
  it.each([
    ['empty', '', 'is empty'],
    ['an old workbook', Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'is in the old XLS format or has a password'],
    ['compressed', Buffer.from('1f8b0800', 'hex'), 'is compressed with gzip; unpack it first'],
    ['a PDF', '%PDF-1.7', 'is a PDF; expected CSV, TSV, XLSX or XML'],
    ['a damaged workbook', 'PK\x03\x04 and nothing more', 'is not an XLSX workbook, or is damaged'],
  ])('if it is %s', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message);
  });

  it('if it does not exist or is a folder', async () => {
    await expect(openPaymentFile('/nowhere.csv')).rejects.toThrow('/nowhere.csv does not exist');
    await expect(openPaymentFile('/')).rejects.toThrow('/ is a folder; expected a file');
  });

  it.each([
    ['HTML', '<html><table><tr><td>x</td></tr></table></html>', 'is an HTML page; open it in a spreadsheet program'],
    [
      'XML of Excel 2003',
      '<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"/>',
      'is in the XML format of Excel 2003; open it in a spreadsheet program, and save it as XLSX or CSV',
    ],
  ])('if it is %s, which programs save as .xls', async (_, content, message) => {
    await expect(read(content)).rejects.toThrow(message);
  });

  it.each([
    ['that is closed by the next one', `Name;IBAN\n"Alpha;${iban}\n"Beta";${iban}\n`, 'row 2'],
    ['that is closed after many rows', `Name;IBAN\n"Alpha;${iban}\n${`Beta;${iban}\n`.repeat(900)}Gamma";x\n`, 'row 2'],
    ['in the IBAN', `Name;IBAN\nAnna;${iban}\nAlpha;"${iban}\nBeta;${iban}\nGamma;"${iban}\n`, 'row 3'],
    ['in a list', `IBAN\n"${iban}\n${iban}\n${iban}"\n`, 'row 2'],
    ['before rows without IBANs', 'a;b;c\n1;"2;3\n4;5;6\n4;5;6\n4;5;6\n7;8;9";0\n', 'row 2'],
    ['after a cell in lines', `Name;IBAN\n"Anna\nMuster";${iban}\n"Alpha;${iban}\nBeta";${iban}\n`, 'row 3 in line 4'],
  ])('if a quotation mark makes one cell of rows: one %s', async (_, content, place) => {
    const message = 'a cell that begins with a quotation mark has rows of the table in it; remove the quotation mark';
    await expect(read(content)).rejects.toThrow(`${place}: ${message}`);
  });

  it('but a cell may have a few IBANs, each in a line, if the table has several columns', async () => {
    expect((await read(`Name;IBAN\nAnna;"${iban}\n${iban}\n${iban}"\n`)).rows[1]?.[1]).toBe(
      `${iban}\n${iban}\n${iban}`,
    );
    await expect(read(`Name;IBAN\nAnna;"${`${iban}\n`.repeat(4)}"\n`)).rejects.toThrow('row 2: a cell that begins');
  });

  it('but a cell may have the lines of an address, with delimiters', async () => {
    const address = 'Anna Muster, c/o Bob\n1, Main Street, Floor 3\nBerlin, DE, Earth';
    expect((await read(`Name,IBAN,Text\n"${address}",${iban},x\n`)).rows[1]?.[0]).toBe(address);
  });
});

it('recognizes XML by its first character, in any encoding', async () => {
  for (const content of ['<?xml version="1.0"?>', '\uFEFF \n<Document/>', iconv.encode('<a/>', 'utf-16le')]) {
    const path = join(tFolder(), 'file.csv');
    writeFileSync(path, content);
    const file = await openPaymentFile(path);
    expect(file.kind).toBe('xml');
    file.close();
  }
});
