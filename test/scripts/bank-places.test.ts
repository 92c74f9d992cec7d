import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { describePlaces, readDirectory } from '../../scripts/bank-places.ts';
import type { ListedBank } from '../../src/banks/listed-bank.ts';
import { createShippedBanks } from '../../src/banks/shipped-banks.ts';

const place = { name: 'DIRECTORY BANK', zip: '1010', city: 'WIEN' };
const bank = (bankCode: string, bic: string, others: Partial<ListedBank> = {}): ListedBank => ({
  ...{ country: 'AT', bankCode, name: '', zip: '', city: '', bic, bicSource: 'NATIONAL_LIST', source: '', date: '' },
  ...others,
});
const describe = (...banks: ListedBank[]) => describePlaces(banks, () => new Map([['TESTATWWXXX', place]]));

it('the file in the package is what the installed packages give', () => {
  const { countries, banks } = createShippedBanks(() => new Map());
  const file = readFileSync(new URL('../../src/banks/bank-places.tsv', import.meta.url), 'utf8');
  expect(describePlaces(countries.flatMap(banks), readDirectory)).toBe(file);
});

it('has name, zip code and city of a bank without a name', () => {
  expect(describe(bank('10000', 'TESTATWW'))).toBe('TESTATWWXXX\tDIRECTORY BANK\t1010\tWIEN\n');
});

it('has no name where the list has one, and no city where banks share the BIC', () => {
  expect(describe(bank('10000', 'TESTATWW', { name: 'A' }))).toBe('TESTATWWXXX\t\t1010\tWIEN\n');
  expect(describe(bank('10000', 'TESTATWW'), bank('10001', 'TESTATWWXXX'))).toBe('TESTATWWXXX\tDIRECTORY BANK\t\t\n');
});

it('has no line for other BICs, for closed banks, and where the list has all', () => {
  const named = { name: 'A' };
  expect(describe(bank('1', 'OTHEATWW'), bank('2', ''), bank('3', 'TESTATWW', { isDeleted: true }))).toBe('');
  expect(describe(bank('10000', 'TESTATWW', named), bank('10001', 'TESTATWW', named))).toBe('');
});
