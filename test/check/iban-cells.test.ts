import { afterEach, expect, it, vi } from 'vitest';
import { findValidIbans, hasFurtherIban, looksLikeIban, readIbanCell } from '../../src/check/iban-cells.ts';
import { tCheck } from '../support/check/check.ts';
import { tIban } from '../support/ibans.ts';

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

/* A long cell is searched in one go, so the characters that are read must not grow with the square of its length. */

afterEach(() => {
  vi.restoreAllMocks();
});

/** As long as a row of a text may be. */
const length = 100_000;

it.each([
  ['starts of IBANs', 'DE89 ', 50],
  ['IBANs that are not right', 'DE89370400440532013001 ', 50],
  ['labels', 'iban DE89 ', 50],
  ['starts of IBANs with long gaps', `DE8${' '.repeat(50)}9 `, 200],
  ['digits in groups', 'DE89-3704.', 50],
])('a cell of %s takes few steps', (_, part, stepsForPlace) => {
  const cell = part.repeat(Math.ceil(length / part.length)).slice(0, length);
  const read = vi.spyOn(String.prototype, 'charCodeAt');
  expect(findValidIbans(cell)).toEqual([]);
  expect(looksLikeIban(cell)).toBe(false);
  readIbanCell(cell);
  // Twice a thousand places where an IBAN may begin; the cell has up to twenty times as many.
  expect(read.mock.calls.length).toBeLessThan(2 * 1_000 * stepsForPlace);
});

it('a long cell still shows the IBAN that is in it', () => {
  const cell = `${'Nibs and ink, '.repeat(2_000)}${tIban(1)}`;
  expect(findValidIbans(cell)).toEqual([tIban(1)]);
});
