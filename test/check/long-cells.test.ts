import { afterEach, expect, it, vi } from 'vitest';
import { findValidIbans, looksLikeIban, readIbanCell } from '../../src/check/iban-cells.ts';
import { tIban } from '../support/e2e/iban.ts';

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
