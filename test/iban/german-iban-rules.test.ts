import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createBankLists } from '../../src/banks/bank-lists.ts';
import { readIbanRules } from '../../src/banks/shipped-banks.ts';
import { applyGermanRule } from '../../src/iban/german-iban-rules.ts';

/** Examples that are published with the rules: bank code, account number, and the IBAN, or none. */
const published = readFileSync('test/data/german-iban-examples.txt', 'utf8');

const rules = readIbanRules();

function apply(bankCode: string, account: string) {
  const rule = rules.get(bankCode);
  if (rule === undefined) throw new Error(`${bankCode} has no rule`);
  return applyGermanRule(rule, { bankCode, accountNumber: account.padStart(10, '0') });
}

it.each(
  published
    .trim()
    .split('\n')
    .map((row) => row.split(' ')),
)('the account of %s with the number %s has %s', (bankCode = '', account = '', iban = '') => {
  const applied = apply(bankCode, account);
  if (iban === 'none') expect(applied).toBe('NO_IBAN');
  else expect(applied).toEqual({ bankCode: iban.slice(4, 12), accountNumber: iban.slice(12) });
});

it.each([
  ['a rule that is not implemented', '38010111', '36', 'RULE_NOT_IMPLEMENTED'],
  ['an account on which descriptions of the rule differ', '30060010', '1234967890', 'RULE_NOT_IMPLEMENTED'],
  ['a rule with a method of check digits that is not implemented', '76026000', '5719083', 'RULE_NOT_IMPLEMENTED'],
  ['an account of one to four digits at Deutsche Bank', '10070000', '117', 'NO_IBAN'],
  ['an account of ten digits at Deutsche Bank', '10070000', '1571908300', 'NO_IBAN'],
  ['a wrong check digit of six digits at Deutsche Bank', '10070000', '123456', 'WRONG_CHECK_DIGITS'],
  ['a wrong check digit of seven digits at Commerzbank', '37040044', '5320131', 'WRONG_CHECK_DIGITS'],
  ['a wrong check digit by another method of Commerzbank', '50080000', '4814706000', 'WRONG_CHECK_DIGITS'],
  ['a group of accounts that no bank has', '76220073', '1160000000', 'NO_IBAN'],
])('there is no IBAN for %s', (_, bankCode, account, refusal) => {
  expect(apply(bankCode, account)).toBe(refusal);
});

it('an older version of a rule is not implemented', () => {
  const account = { bankCode: '10070000', accountNumber: '0005719083' };
  expect(applyGermanRule({ rule: '002001', checkMethod: '63' }, account)).toBe('RULE_NOT_IMPLEMENTED');
});

it('the rules of few bank codes in the shipped list are unknown or not implemented', () => {
  const inUse = createBankLists()
    .banks('DE')
    .filter(({ isDeleted }) => !isDeleted)
    .map(({ bankCode }) => bankCode);
  const unknown = inUse.filter((bankCode) => !rules.has(bankCode));
  expect(unknown.length).toBeLessThan(20);
  const accountNumber = '0571908300';
  const refused = inUse.filter((bankCode) => {
    const rule = rules.get(bankCode);
    return rule && applyGermanRule(rule, { bankCode, accountNumber }) === 'RULE_NOT_IMPLEMENTED';
  });
  // Rules that are older or contradictory, or need a method of check digits that is not implemented.
  expect(refused).toEqual(['30040098', '30060010', '40060000', '57060000', '76026000']);
});
