import { expect, it } from 'vitest';
import { maskIban, printIban } from '../../src/iban/iban.ts';
import { countryFormats } from '../../src/iban/registry.ts';

it.each(countryFormats())('prints the example of $country in groups of four', ({ example }) => {
  const groups = printIban(example).split(' ');
  expect(groups.join('')).toBe(example);
  expect(groups.slice(0, -1).every((group) => group.length === 4)).toBe(true);
  expect(groups.at(-1)).not.toBe('');
});

it.each(countryFormats())('masks the example of $country but for its first and last four characters', ({ example }) => {
  const masked = maskIban(example).replaceAll(' ', '');
  expect(masked).toHaveLength(example.length);
  expect(masked).toBe(example.slice(0, 4) + '*'.repeat(example.length - 8) + example.slice(-4));
});

it.each([
  ['', ''],
  ['DE', '**'],
  ['DE8937040044', '**** **** ****'],
  ['4111111111111111', '**** **** **** ****'],
  ['DE89 MY SECRET TEXT', '**** **** **** **** ***'],
])('shows only the length of "%s", which may be anything', (text, expected) => {
  expect(maskIban(text)).toBe(expected);
});
