import { afterEach, expect, it, vi } from 'vitest';
import { findValidIbans, looksLikeIban, readIbanCell } from '../../src/check/iban-cells.ts';
import { tIban } from '../support/e2e/iban.ts';

/* A long cell is searched in one go, so the characters that are read must not grow with the square of its length. */

afterEach(() => {
  vi.restoreAllMocks();
});

const length = 32_767;

it.each([
  ['starts of IBANs', 'DE89 '],
  ['IBANs that are not right', 'DE89370400440532013001 '],
  ['labels', 'iban DE89 '],
  ['starts of IBANs with long gaps', `DE8${' '.repeat(50)}9 `],
  ['digits in groups', 'DE89-3704.'],
])('a cell of %s takes few steps', (_, part) => {
  const cell = part.repeat(Math.ceil(length / part.length)).slice(0, length);
  const read = vi.spyOn(String.prototype, 'charCodeAt');
  expect(findValidIbans(cell)).toEqual([]);
  expect(looksLikeIban(cell)).toBe(false);
  readIbanCell(cell);
  // Twice at most a thousand places, each with at most a hundred characters before and behind the end, and all characters a few times.
  expect(read.mock.calls.length).toBeLessThan(2 * 1_000 * 200 + 4 * length);
});

it('a long cell still shows the IBAN that is in it', () => {
  const cell = `${'Nibs and ink, '.repeat(2_000)}${tIban(1)}`;
  expect(findValidIbans(cell)).toEqual([tIban(1)]);
});
