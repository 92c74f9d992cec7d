import { expect, it } from 'vitest';
import { hasFurtherIban, readIbanCell } from '../../src/check/iban-cells.ts';
import { tCheck } from '../support/check/check.ts';
import { tIban } from '../support/e2e/iban.ts';

const right = 'DE89370400440532013000';
const wrong = 'FR1420041010050500013M02607';

it('a wrong IBAN behind a right one in the same cell is a finding of the row', async () => {
  const { run } = tCheck(
    `Name,IBAN\nAnna,${right} ${wrong}\nBob,IBAN: ${tIban(1)} BIC: COBADEFFXXX\nCara,${tIban(2)}\n`,
  );
  const { code, stdout, stderr } = await run();
  expect(code).toBe(1);
  const rows = stdout.trimEnd().split('\n').slice(1);
  expect(rows.map((row) => row.split(',').slice(2, 4))).toEqual([
    ['VALID', 'IBAN_NOT_CHECKED'],
    ['VALID', ''],
    ['VALID', ''],
  ]);
  expect(stderr).toContain('IBAN_NOT_CHECKED (warning): row 2');
});

it.each([
  ['a second one before it', `${wrong}, ${right}`, true],
  ['a second one in groups', `${right} / FR14 2004 1010 0505 0001 3M02 607`, true],
  ['the same one again', `${right} (DE89 3704 0044 0532 0130 00)`, false],
  ['a label and a BIC', `IBAN: ${right} BIC: COBADEFFXXX`, false],
  ['a reference', `${right} RF18 5390 0754 7034, customer 12345678901234567890`, false],
  ['groups that begin with letters', 'Account GB29 NWBK 6016 1331 9268 19', false],
  ['only itself', 'MT84 MALT 0110 0001 2345 MTLC AST0 01S', false],
])('a cell with %s', (_, cell, expected) => {
  expect(hasFurtherIban(cell, readIbanCell(cell))).toBe(expected);
});
