import { expect, it } from 'vitest';
import { isIsoDate, isoDateOf } from '../../src/base/calendar-period.ts';

it.each([
  ['2026-11-21', true],
  ['2026-02-29', false],
  ['2024-02-29', true],
  ['2026-11-21T00:00', false],
  ['21.11.2026', false],
  ['2026-1-1', false],
  ['', false],
])('%s is an ISO date: %s', (text, expected) => {
  expect(isIsoDate(text)).toBe(expected);
});

it('the ISO date of a time is its day in UTC', () => {
  expect(isoDateOf(Date.parse('2026-11-21T23:59:59+02:00'))).toBe('2026-11-21');
  expect(isoDateOf(Date.parse('2026-11-21T23:59:59-02:00'))).toBe('2026-11-22');
});
