import { describe, expect, it } from 'vitest';
import { buildIban, type IbanFieldValues } from '../../src/iban/build-iban.ts';

function messagesOf(fields: IbanFieldValues): readonly string[] {
  const generated = buildIban(fields);
  return generated.kind === 'invalid' ? generated.problems.map(({ message }) => message) : [];
}

describe('the message of a field problem', () => {
  it.each<[string, IbanFieldValues, string]>([
    [
      'a missing field',
      { country: 'GB', bankCode: 'NWBK', accountNumber: '31926819' },
      'branch is missing; a branch of GB has 6 digits.',
    ],
    [
      'letters among digits',
      { country: 'DE', bankCode: '3704O044', accountNumber: '1' },
      'bankCode has 8 characters, with letters where they are not allowed; a bank code of DE has 8 digits.',
    ],
    [
      'digits among letters',
      { country: 'NL', bankCode: '4BNA', accountNumber: '417164300' },
      'bankCode has 4 characters, with digits where they are not allowed; a bank code of NL has 4 letters.',
    ],
    [
      'characters that are neither',
      { country: 'DE', bankCode: '37040044', accountNumber: '53201/ä' },
      'accountNumber has 7 characters, with characters other than letters and digits where they are not allowed; an account number of DE has up to 10 digits.',
    ],
    [
      'the wrong length and the wrong characters',
      { country: 'DE', bankCode: 'ABC', accountNumber: '1' },
      'bankCode has 3 characters, with letters where they are not allowed; a bank code of DE has 8 digits.',
    ],
    [
      'one character',
      { country: 'BE', bankCode: '5', accountNumber: '0075470' },
      'bankCode has 1 character; a bank code of BE has 3 digits.',
    ],
    [
      'a letter where only a digit is allowed',
      { country: 'AL', bankCode: '212', branch: '1100', accountNumber: 'X0000000235698741' },
      'accountNumber has 17 characters, with letters where they are not allowed; an account number of AL has 1 digit and 16 letters or digits.',
    ],
    [
      'a digit where only a letter is allowed',
      { country: 'BR', bankCode: '00360305', branch: '00001', accountNumber: '979549311' },
      'accountNumber has 9 characters, with digits where they are not allowed; an account number of BR has up to 10 digits, 1 letter and 1 letter or digit.',
    ],
    [
      'an account number that includes the check digit',
      { country: 'NO', bankCode: '8601', accountNumber: '1117947' },
      'accountNumber has 7 characters; an account number of NO has 6 digits.',
    ],
    [
      'a number that is not issued',
      { country: 'NO', bankCode: '8601', accountNumber: '111705' },
      'accountNumber cannot exist in NO: its check digit would be 10.',
    ],
    ['a country without IBANs', { country: 'US', bankCode: '1' }, 'country is US, which has no IBANs.'],
    ['a country of three letters', { country: 'DEU' }, 'country has 3 characters; a country code has 2 letters.'],
    ['no country', { country: ' ' }, 'country is missing; a country code has 2 letters.'],
  ])('explains %s', (_, fields, message) => {
    expect(messagesOf(fields)).toEqual([message]);
  });

  it('never contains the value: an account number is personal data', () => {
    for (const accountNumber of ['053201300099', '53X2O13']) {
      for (const message of messagesOf({ country: 'DE', bankCode: '37040044', accountNumber })) {
        for (let at = 0; at + 3 <= accountNumber.length; at += 1) {
          expect(message).not.toContain(accountNumber.slice(at, at + 3));
        }
      }
    }
  });
});
