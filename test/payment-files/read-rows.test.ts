import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import writeWorkbook from 'write-excel-file/node';
import type { Cells } from '../../src/payment-files/find-columns.ts';
import { openPaymentFile } from '../../src/payment-files/open-file.ts';
import { readRows } from '../../src/payment-files/read-rows.ts';
import { tIban } from '../support/e2e/iban.ts';
import { tFolder } from '../support/stores/folder.ts';

async function read(content: string | Buffer) {
  const path = join(tFolder(), 'file');
  writeFileSync(path, content);
  const file = await openPaymentFile(path);
  try {
    const { groups, style } = await readRows(file);
    const rows: Cells[] = [];
    for await (const group of groups) rows.push(...group);
    return { rows, style: { ...style }, kind: file.kind };
  } finally {
    file.close();
  }
}

const iban = tIban(1);

it('comes in groups of at most 200 rows, so that none takes long', async () => {
  const path = join(tFolder(), 'short.csv');
  writeFileSync(path, `IBAN\n${`${iban}\n`.repeat(10_000)}`);
  const file = await openPaymentFile(path);
  const sizes: number[] = [];
  for await (const group of (await readRows(file)).groups) sizes.push(group.length);
  expect(Math.max(...sizes)).toBe(200);
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(10_001);
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

  it('if a workbook has more rows than its limit', async () => {
    const rows = Array.from({ length: 100_001 }, () => [iban]);
    await expect(read(await writeWorkbook(rows).toBuffer())).rejects.toThrow(
      /more than 100,000 rows.*; save it as CSV, which has no limit/,
    );
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
