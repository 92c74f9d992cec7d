import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { describeChanges, refreshGermanDates } from '../../scripts/bank-list-changes.ts';

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
const shippedBanks = read('src/banks/shipped-banks.ts');
const versionOf = (name: string): string => JSON.parse(read(`node_modules/${name}/package.json`)).version;

describe('the dates of the lists', () => {
  it('of German banks are those of the installed package', () => {
    const readme = read('node_modules/bankdata-germany/README.md');
    expect(refreshGermanDates(shippedBanks, versionOf('bankdata-germany'), readme)).toBe(shippedBanks);
    const next =
      'includes data from 2026-09-07 to 2026-12-06, as well as from 2026-12-07 to 2027-03-07. Changes on 2026-12-07';
    const refreshed = refreshGermanDates(shippedBanks, '2.2603.1', next);
    expect(refreshed).toContain('`bankdata-germany` 2.2603;');
    expect(refreshed).toContain("germanDate = '2026-09-07'");
    expect(refreshed).toContain("germanValidUntil = '2027-03-07'");
  });

  it('are not guessed from a README without dates', () => {
    expect(() => refreshGermanDates(shippedBanks, '2.2603.1', 'no date')).toThrow('must match');
  });
});

describe('the report of changes', () => {
  const row = (bankCode: string, bic: string, name = '') => ({ country: 'NL', bankCode, bic, name });

  it('lists added, removed and changed bank codes of each country', () => {
    const before = [row('AAAA', 'AAAANL2A'), row('BBBB', 'BBBBNL2A', 'B'), row('CCCC', 'CCCCNL2A')];
    const after = [row('AAAA', 'AAAANL2A'), row('BBBB', '', 'B'), row('DDDD', 'DDDDNL2A', 'D')];
    expect(describeChanges(before, after)).toEqual([
      'NL: 3 of 4 bank codes changed',
      '  changed  BBBB  BBBBNL2A B -> without BIC B',
      '  removed  CCCC  CCCCNL2A',
      '  added    DDDD  DDDDNL2A D',
    ]);
  });

  it('counts the changes that it does not list', () => {
    const after = Array.from({ length: 5 }, (_, index) => row(`AAA${index}`, ''));
    expect(describeChanges([], after, 2).at(-1)).toBe('  and 3 more');
  });
});
