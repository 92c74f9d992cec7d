import { expect, it } from 'vitest';
import { createKnownBanks } from '../../src/bank-lists/known-banks.ts';

it.each([
  ['DE', '37040044', true],
  ['DE', '00000000', false],
  ['AT', '12000', true],
  ['FR', '20041', true],
  ['MQ', '20041', false],
  ['GB', 'NWBK', false],
  ['', '', false],
])('country %s, bank code %s: %s', (country, bankCode, isKnown) => {
  const knownBanks = createKnownBanks();
  expect(knownBanks.has(country, bankCode)).toBe(isKnown);
  knownBanks.load();
  expect(knownBanks.has(country, bankCode)).toBe(isKnown);
});
