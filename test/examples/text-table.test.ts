import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { matchBic } from '../../examples/web/src/state/bic.ts';
import { guardFormula, toCsv } from '../../examples/web/src/state/list-rows.ts';
import {
  findBicColumn,
  findColumns,
  findTitleRow,
  nameColumns,
  parseTable,
  readIbanColumn,
  readTable,
} from '../../examples/web/src/state/text-table.ts';
import { matchBic as matchInGateway } from '../../src/banks/match-bic.ts';
import { neutralize } from '../../src/check/write-results.ts';
import { findBicProblems } from '../../src/iban/bic.ts';

const german = 'DE89370400440532013000';
const other = 'DE89370400440532013001';
const british = 'GB29NWBK60161331926819';
const lengths = new Map([
  ['DE', 22],
  ['GB', 22],
]);

function layout(text: string) {
  const { rows } = parseTable(text, lengths);
  const { iban, others } = findColumns(rows, lengths);
  const titleRow = findTitleRow(rows, iban ?? 0, lengths);
  return { iban, others, titleRow, names: nameColumns(rows, titleRow) };
}

describe('a table', () => {
  it.each([
    ['commas', `a,IBAN\n"x\ny",${german}`, ','],
    ['semicolons, although a cell has a comma', `a;IBAN\nx,y;${german}`, ';'],
    ['tabs', `a\tIBAN\nx\t${german}`, '\t'],
    ['vertical bars', `a|IBAN\nx|${german}`, '|'],
    ['the delimiter that Excel names', `sep=#\na#IBAN\nx#${german}`, '#'],
    ['no delimiter', `${german}\n${other}`, ','],
  ])('has %s', (_, text, delimiter) => {
    expect(parseTable(text, lengths)).toMatchObject({ delimiter });
  });

  it('keeps quoted line breaks, and rows of other lengths', () => {
    expect(parseTable(`a;b\r\n"x\ny";${german}\r\n\r\n1;2;3`, lengths)).toEqual({
      rows: [['a', 'b'], ['x\ny', german], [''], ['1', '2', '3']],
      delimiter: ';',
      lineEnd: '\r\n',
    });
  });

  it.each([
    ['UTF-8', Buffer.from('é;1'), false],
    ['UTF-8', Buffer.from('\uFEFFé;1'), true],
    ['UTF-16', Buffer.from('\uFEFFé;1', 'utf16le'), true],
    ['Windows-1252', Buffer.from('é;1', 'latin1'), true],
  ])('is read in %s', (encoding, bytes, hasByteOrderMark) => {
    expect(readTable(bytes, lengths)).toMatchObject({ encoding, hasByteOrderMark, rows: [['é', '1']] });
  });

  it('has the IBANs in the column with most different ones, right or wrong', () => {
    const own = ['from', 'to', 'invoice'];
    const rows = [german, other].map((iban) => [british, iban, 'RE20240001234567890123']);
    const text = [own, ...rows].map((cells) => cells.join(';')).join('\n');
    expect(layout(text)).toEqual({ iban: 1, others: [0], titleRow: 0, names: own });
  });

  it.each([
    ['by its title', `Name,SWIFT code,IBAN\nA,,${german}`, 1],
    ['by its content', `A,COBADEFF,${german}\nB,DEUTDEFF500,${other}`, 1],
    ['not if words only look like BICs', `TRANSFER,A,${german}\nFebruary,B,${other}`, null],
    ['not if one cell is one', `COBADEFF,A,${german}\n,B,${other}`, null],
  ])('has a column with BICs: %s', (_, text, expected) => {
    const { rows } = parseTable(text, lengths);
    const { iban, titleRow, names } = layout(text);
    expect(findBicColumn(rows, names, { titleRow, iban })).toBe(expected);
  });

  it('has its titles above the first IBAN, or none', () => {
    expect(layout(`Payroll of May\n\nName;IBAN of the payee\nA;${german}`)).toMatchObject({ iban: 1, titleRow: 2 });
    expect(layout(`A;${german}\nB;${other}`)).toMatchObject({ titleRow: null, names: ['A', 'B'] });
    expect(layout('Name;Amount\nA;12')).toMatchObject({ iban: null });
  });
});

describe('a pasted text', () => {
  it.each([
    [
      'a table with titles',
      `Name;IBAN\nAnna;${german}\nBen;not an IBAN`,
      { name: 'IBAN', ibans: `${german}\nnot an IBAN` },
    ],
    ['a table without titles', `Anna\t${german}\nBen\t${other}`, { name: 'B', ibans: `${german}\n${other}` }],
    ['a list', `${german}\n${other}`, null],
    ['a list in one line', `${german}, ${other}; x`, null],
    ['a list in lines of different lengths', `${german}, ${british}, x\n${german}\n${other}\n${other}`, null],
    ['a text without IBANs', 'a;b\nc;d', null],
  ])('is %s', (_, text, column) => {
    expect(readIbanColumn(text)).toEqual(column);
  });
});

describe('a cell that a spreadsheet would run', () => {
  it.each(['=1+1', '+A1', '-A1', '@SUM(A1)', '\tx', '\rx', '-12.50', '+49 170', '-5 %', 'a=b', '', '1'])(
    'is written as the command writes it: %j',
    (cell) => {
      expect(guardFormula(cell)).toBe(neutralize(cell));
    },
  );

  it('is quoted after that, as is a cell with the delimiter, a quotation mark or a line break', () => {
    const style = { delimiter: ';', lineEnd: '\n', hasByteOrderMark: false };
    expect(toCsv([['=A;1', 'a"b', 'c\nd', 'e,f', ' g']], style)).toBe(`"'=A;1";"a""b";"c\nd";e,f;" g"\n`);
  });
});

it('a BIC matches as in the gateway', () => {
  const bic = fc
    .tuple(
      fc.constantFrom('COBA', 'DEUT'),
      fc.constantFrom('DE', 'FR'),
      fc.constantFrom('FF', 'HH'),
      fc.constantFrom('', 'XXX', '500'),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(bic, fc.array(bic, { maxLength: 3 }), (given, known) => {
      expect(findBicProblems(given)).toEqual([]);
      expect(matchBic(given, known)).toBe(matchInGateway(given, known));
    }),
  );
  expect(['COBADEF', 'COBADEFF-'].map((given) => matchBic(given, ['DEUTDEFF']))).toEqual(['UNKNOWN', 'UNKNOWN']);
});
