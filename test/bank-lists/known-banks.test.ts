import { expect, it, vi } from 'vitest';
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
});

it('reads every list before it is needed, but not at the start', () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setImmediate'] });
  const knownBanks = createKnownBanks();
  const parse = vi.spyOn(JSON, 'parse');
  knownBanks.loadSoon();
  vi.advanceTimersByTime(999);
  expect(parse).not.toHaveBeenCalled();
  vi.runAllTimers();
  parse.mockClear();
  expect(knownBanks.has('DE', '37040044')).toBe(true);
  expect(knownBanks.has('LU', '001')).toBe(true);
  expect(parse).not.toHaveBeenCalled();
});
