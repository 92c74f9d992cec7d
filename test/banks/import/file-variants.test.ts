import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { ImportError } from '../../../src/banks/import/files/bank-file.ts';
import { importableCountries } from '../../../src/banks/import/files/formats.ts';
import { readBankFile } from '../../../src/banks/import/files/read-bank-file.ts';
import { type Cells, type Sample, tLastPlace, wrongBic } from '../../support/banks/import/sample.ts';
import { samples, tSample } from '../../support/banks/import/samples.ts';
import { tFolder } from '../../support/gateway/stores/folder.ts';
import { tShared } from '../../support/process.ts';

/* Files as they are published, with one wrong row in more than a hundred, and copies of them that other programs made. */

it('every importable country has a sample', () => {
  expect([...new Set(samples.map(({ country }) => country))].sort()).toEqual(importableCountries());
});

async function read({ country, fileName }: Sample, bytes: Buffer, date?: string, folder = tFolder()) {
  const path = join(folder, fileName);
  writeFileSync(path, bytes);
  return readBankFile({ country, path, today: '2026-11-25', date });
}

/** The rows of a sample again and again, until there are more than a hundred; the first of each bank is imported. */
function repeat(rows: readonly Cells[]): Cells[] {
  const times = Math.ceil(101 / rows.length);
  return Array.from({ length: times }, () => rows).flat();
}

/** The rows with a BIC of 10 characters, as in real lists, for the bank that is expected. */
function withShortBic({ rows, bank }: Sample): Cells[] {
  const short = bank.bic.padEnd(11, 'X').slice(0, 10);
  const change = (cell: Cells[number]) => (String(cell).replaceAll(' ', '') === bank.bic ? short : cell);
  return rows.map((cells) => (cells.includes(bank.name) ? cells.map(change) : cells));
}

const variants: readonly [name: string, change: (text: string, encoding: string) => Buffer][] = [
  ['unchanged', (text, encoding) => iconv.encode(text, encoding, { addBOM: encoding === 'utf-16' })],
  ['with \\n', (text, encoding) => iconv.encode(text.replaceAll('\r\n', '\n'), encoding, { addBOM: true })],
  ['with \\r', (text, encoding) => iconv.encode(text.replaceAll('\r\n', '\r'), encoding, { addBOM: true })],
  ['as a copy in UTF-8', (text) => Buffer.from(text)],
  ['as a copy in UTF-8 with a byte order mark', (text) => Buffer.from(`\ufeff${text}`)],
  ['as a copy in UTF-16', (text) => iconv.encode(text, 'utf-16le', { addBOM: true })],
  ['as a copy in UTF-16 of the other order', (text) => iconv.encode(text, 'utf-16be', { addBOM: true })],
  ['as a copy in UTF-16 without a byte order mark', (text) => iconv.encode(text, 'utf-16le')],
];

describe.each(samples)('the file of $title ($country), with one wrong row', (sample) => {
  const { top, rows, encode, invalid, bank, encoding } = sample;
  const [invalidRow, problem] = invalid;
  const complete = tShared(async (onFinished) =>
    read(sample, await encode([...top, ...repeat(rows)]), undefined, tFolder(onFinished)),
  );

  it.each(encoding === undefined ? variants.slice(0, 1) : variants)('is imported %s', async (_, change) => {
    const bytes = await encode([...top, ...repeat(rows), invalidRow]);
    const copy = encoding === undefined ? bytes : change(iconv.decode(bytes, encoding), encoding);
    const content = await read(sample, copy);
    expect(content.entries).toEqual(complete().entries);
    expect(content.entries).toContainEqual(bank);
    expect(content.date).toBe(complete().date);
    expect(content.faults).toMatchObject({ count: 1, leftOut: 1 });
    const place = tLastPlace({ ...sample, rows: repeat(rows) });
    expect(content.faults.first).toEqual([`${place}, left out: ${problem}`]);
  });

  it('is not taken for a complete list', async () => {
    const complete = await read(sample, await encode([...top, ...repeat(rows)]), '2026-11-20');
    const content = await read(sample, await encode([...top, ...repeat(rows), invalidRow]), '2026-11-20');
    expect(complete.isComplete).toBe(!['ES', 'FI', 'FR', 'UA'].includes(sample.country));
    expect(content.isComplete).toBe(false);
  });

  it('is refused if more than one row in a hundred is wrong', async () => {
    const wrong = Array.from({ length: 3 }, () => invalidRow);
    const reading = read(sample, await encode([...top, ...repeat(rows), ...wrong]));
    await expect(reading).rejects.toThrow(/ has errors in 3 of \d+ rows, more than one in a hundred: .*left out: /);
  });
});

it.each(samples.filter(({ bank }) => bank.bic !== ''))(
  'the file of $title is imported without a BIC that is not valid',
  async (sample) => {
    const { bank, rows, top, encode } = sample;
    const changed = [...withShortBic(sample), ...repeat(rows).slice(rows.length)];
    const content = await read(sample, await encode([...top, ...changed]));
    expect(content.entries).toContainEqual({ ...bank, bic: '' });
    expect(content.entries).not.toContainEqual(bank);
    expect(content.faults).toMatchObject({ count: 1, leftOut: 0 });
    expect(content.faults.first[0]).toMatch(new RegExp(`, imported without it: the BIC is "\\w{10}"; ${wrongBic}$`));
  },
);

it.each(samples.filter(({ encoding }) => encoding !== undefined))(
  'the text file of $title may have no end of the last line only without an error in it',
  async (sample) => {
    const { top, rows, encode, invalid, encoding } = sample;
    const [invalidRow] = invalid;
    const withoutEnd = async (cells: readonly Cells[]) => {
      const text = iconv.decode(await encode(cells), encoding ?? '').replace(/\r\n$/, '');
      return read(sample, iconv.encode(text, encoding ?? '', { addBOM: encoding === 'utf-16' }));
    };
    const complete = await read(sample, await encode([...top, ...repeat(rows)]));
    expect(await withoutEnd([...top, ...repeat(rows)])).toEqual(complete);
    const cutOff = withoutEnd([...top, ...repeat(rows), invalidRow]);
    // The last line of JSON and XML is not a row.
    if (/\.(json|xml)$/.test(sample.fileName)) expect((await cutOff).faults.count).toBe(1);
    else await expect(cutOff).rejects.toThrow(/ ends within line \d+; download it again$/);
  },
);

/** Those of Windows, DOS, Unix and the Mac for Latin and Cyrillic letters. */
const encodings = [
  ...['cp437', 'cp775', 'cp850', 'cp852', 'cp861', 'cp865', 'cp866', 'gb18030', 'koi8-u', 'utf-8', 'utf-16le'],
  ...[1, 2, 4, 5, 9, 10, 13, 15, 16].map((part) => `iso-8859-${part}`),
  ...[1250, 1251, 1252, 1254, 1257].map((page) => `windows-${page}`),
  ...['croatian', 'iceland', 'roman', 'turkish', 'ukraine'].map((language) => `mac${language}`),
];

describe('a copy in another encoding', () => {
  it.each(samples.filter(({ encoding }) => encoding !== undefined))(
    'of the file of $title is read with the right letters, or refused',
    async (sample) => {
      const { top, rows, encode, encoding = '' } = sample;
      const bytes = await encode([...top, ...repeat(rows)]);
      const { entries } = await read(sample, bytes);
      const text = iconv.decode(bytes, encoding);
      // Other encodings do not have all of its letters.
      const possible = encodings.filter((other) => iconv.decode(iconv.encode(text, other), other) === text);
      const results = possible.map(async (other) => {
        const copy = await read(sample, iconv.encode(text, other)).catch((error: unknown) => error);
        return copy instanceof ImportError ? 'refused' : copy;
      });
      const accepted = (await Promise.all(results)).filter((copy) => copy !== 'refused');
      for (const copy of accepted) expect(copy).toMatchObject({ entries });
      expect(accepted.length).toBeGreaterThanOrEqual(2);
      expect(accepted.length).toBeLessThan(possible.length);
    },
  );

  it.each(samples.filter(({ encoding, bank }) => encoding && /[^\0-\x7f]/.test(bank.name)))(
    'of the file of $title is refused if it was read as windows-1252, and saved again',
    async (sample) => {
      const { top, rows, encode, encoding = '' } = sample;
      const text = iconv.decode(await encode([...top, ...repeat(rows)]), encoding);
      const copy = iconv.decode(Buffer.from(text), 'windows-1252');
      await expect(read(sample, Buffer.from(copy))).rejects.toThrow(ImportError);
    },
  );

  it('is imported without the letters that were wrong already, in one row in a hundred', async () => {
    const sample = tSample('CH');
    const [[...wrong] = []] = sample.rows;
    wrong.splice(0, 1, '9000');
    wrong.splice(12, 1, 'ZÃ¼rich');
    const bytes = await sample.encode([...sample.top, ...repeat(sample.rows), wrong]);
    const { entries, faults } = await read(sample, bytes);
    expect(entries).toContainEqual(
      expect.objectContaining({ bankCode: '09000', city: '', name: 'UBS Switzerland AG' }),
    );
    expect(faults.first).toEqual([
      'line 106, imported without it: the city is "ZÃ¼rich", in utf-8 that was read as windows-1252',
    ]);
  });
});
