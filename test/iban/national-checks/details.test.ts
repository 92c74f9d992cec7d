import { describe, expect, it } from 'vitest';
import { belgium } from '../../../src/iban/national-checks/belgium.ts';
import { cin } from '../../../src/iban/national-checks/cin.ts';
import { cleRib } from '../../../src/iban/national-checks/cle-rib.ts';
import { hungary } from '../../../src/iban/national-checks/hungary.ts';
import { mod9710 } from '../../../src/iban/national-checks/mod97-10.ts';
import { norway } from '../../../src/iban/national-checks/norway.ts';
import { spain } from '../../../src/iban/national-checks/spain.ts';

describe('the special cases of national checks', () => {
  it('BE writes a remainder of 0 as 97', () => {
    expect(belgium.complete?.('000000009700')).toBe('000000009797');
    expect(belgium.passes('000000009700')).toBe(false);
  });

  it('FR counts letters as digits: A to I and J to R from 1, S to Z from 2', () => {
    const keyOf = (account: string) => cleRib.complete?.(`20041010050500013${account}026??`)?.slice(-2);
    const groups = ['1AJ', '2BKS', '3CLT', '4DMU', '5ENV', '6FOW', '7GPX', '8HQY', '9IRZ'];
    for (const group of groups) expect(new Set([...group].map(keyOf)).size).toBe(1);
    expect(new Set([...'0123456789'].map(keyOf)).size).toBe(10);
  });

  it('FR has keys from 01 to 97', () => {
    expect(cleRib.complete?.('00000000000000000000000')).toBe('00000000000000000000097');
    expect(cleRib.passes('00000000000000000000000')).toBe(false);
  });

  it('ISO 7064 has check digits from 02 to 98, not others with the same remainder', () => {
    expect(mod9710.complete?.('0000000000000000')).toBe('0000000000000098');
    expect(mod9710.passes('0000000000000001')).toBe(false);
  });

  it('MK counts letters as two digits', () => {
    // 98 - 25011000005898 * 100 mod 97, as A is 10.
    expect(mod9710.complete?.('2501A0000589800')).toBe('2501A0000589836');
  });

  it('IT allows letters in the account, in odd and even places', () => {
    expect(cin.passes('K4348207900DNNDKPHAGTIB')).toBe(true);
    expect(cin.passes('K4348207900NDNDKPHAGTIB')).toBe(false);
  });

  it('ES writes 10 as 1 and 11 as 0', () => {
    expect(spain.complete?.('21000418000600000000')).toBe('21000418410600000000');
    expect(spain.complete?.('21000418000000000000')).toBe('21000418400000000000');
  });

  it('HU completes only the last digit', () => {
    expect(hungary.complete?.('117730171111101800000009')).toBe('117730171111101800000000');
    expect(hungary.passes('117730171111101800000000')).toBe(false);
  });

  it('NO has no numbers whose check digit would be 10', () => {
    expect(norway.complete?.('86011117050')).toBeNull();
    for (const digit of '0123456789') expect(norway.passes(`8601111705${digit}`)).toBe(false);
  });

  it('NO checks only the four digits after account group 00', () => {
    expect(norway.complete?.('86010011790')).toBe('86010011797');
    expect(norway.complete?.('12340011790')).toBe('12340011797');
  });
});
