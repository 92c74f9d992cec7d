import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkGermanAccount } from '../../src/iban/german-account-checks.ts';
import { anyCharacter, rounds } from '../support/random.ts';

interface Published {
  method: string;
  account: string;
  /** Positions of the digits that the method reads, counted from 1 in ten digits. */
  positions: readonly number[];
}

/**
 * The test numbers and examples of the Bundesbank, which has none for 01, 03, 05, 13, 18 and 20: theirs are test numbers of
 * ibantools-germany. Sub-accounts, branches and types of account are not read by all methods.
 */
const published: readonly Published[] = [
  list('00', from(1, 10), '9290701 539290858 1501824 1501832'),
  list('01', from(1, 10), '1234567899'),
  list('03', from(1, 10), '1234567890'),
  list('05', from(1, 10), '1234567897'),
  list('06', from(1, 10), '94012341 5073321010'),
  list('10', from(1, 10), '12345008 87654008'),
  list('13', from(2, 8), '1234567600'),
  list('13', from(4, 10), '12345676'),
  list('18', from(1, 10), '1234567899'),
  list('19', from(1, 10), '240334000 200520016'),
  list('20', from(1, 10), '1234567896'),
  list('24', from(5, 10), '138301 1306118605 3307118608'),
  list('24', from(4, 10), '9307118603'),
  list('28', from(1, 8), '19999000 9130000201'),
  list('32', from(4, 10), '9141405 1709107983 0122116979 0121114867 9030101192 9245500460'),
  list('33', from(5, 10), '48658 84956'),
  list('34', from(1, 8), '9913000700 9914001000'),
  list('38', from(4, 10), '191919 1100660'),
  list('61', from(1, 8), '2063099200'),
  list('61', from(1, 10), '0260760481'),
  list('63', from(1, 8), '123456600'),
  list('63', from(4, 10), '1234566'),
  list('76', from(2, 8), '0006543200 9012345600 7876543100 12345600'),
  list('76', from(4, 10), '123456'),
  list('88', from(4, 10), '2525259 1000500'),
  list('88', from(3, 10), '90013000 92525253 99913003'),
  list('99', from(1, 10), '0068007003 0847321750'),
].flat();

const methods = [...new Set(published.map(({ method }) => method))];

describe('a published account number', () => {
  it.each(published)('$account passes the check of method $method', ({ method, account }) => {
    expect(checkGermanAccount(method, account)).toBe('PASSED');
    expect(checkGermanAccount(method, account.padStart(10, '0'))).toBe('PASSED');
  });

  it.each(published)(
    '$account fails method $method in nine of ten cases where a digit is another, if it can be checked',
    ({ method, account, positions }) => {
      const results = positions
        .flatMap((position) => changes(account, position))
        .map((other) => checkGermanAccount(method, other));
      // The remainder 10 of method 76 cannot be checked, and never passes.
      const checked = results.filter((result) => result !== 'NOT_APPLICABLE');
      expect(checked.length).toBeGreaterThanOrEqual(positions.length * 7);
      expect(checked.filter((result) => result === 'FAILED').length).toBeGreaterThanOrEqual(checked.length * 0.9);
    },
  );
});

describe('a method with several ways to calculate the check digit', () => {
  const accounts: Readonly<Record<string, string>> = {
    '91':
      '2974118000 5281741000 9952810000 2974117000 5281770000 9952812000 8840019000 8840050000 8840087000 8840045000 ' +
      '8840012000 8840055000 8840080000',
    A4:
      '4711173 7093330 4711172 7093335 1199503010 8499421235 862342 8997710000 664040000 905844 5030101099 1123458 ' +
      '1299503117',
  };

  it.each(Object.entries(accounts))('%s passes each published number, %s', (method, list) => {
    for (const account of list.split(' '))
      expect([account, checkGermanAccount(method, account)]).toEqual([account, 'PASSED']);
  });

  it.each(Object.keys(accounts))('%s refuses most numbers', (method) => {
    const numbers = Array.from({ length: 2000 }, (_, index) => String((index * 7_919_777_331) % 10_000_000_000));
    const passed = numbers.filter((number) => checkGermanAccount(method, number) === 'PASSED').length;
    expect(passed).toBeGreaterThan(400);
    expect(passed).toBeLessThan(900);
  });
});

describe('a sub-account 00 that was left out', () => {
  /** The check digit of six digits, as published: cross sums of the products with 1, 2, 1, 2, 1, 2. */
  const digitOf = (customer: string) => {
    const products = [...customer].map((digit, index) => Number(digit) * (index % 2 === 0 ? 1 : 2));
    const sum = products.flatMap((product) => [...String(product)]).reduce((total, digit) => total + Number(digit), 0);
    return String((10 - (sum % 10)) % 10);
  };
  const atPosition8 = (account: string) => digitOf(account.slice(1, 7)) === account[7];
  const atPosition10 = (account: string) => digitOf(account.slice(3, 9)) === account[9];

  // As in the published texts: the numbers of 13 have ten digits and those of 63 nine, with two zeros put before either.
  it.each([
    ['13', (account: string) => atPosition8(account) || (account.startsWith('00') && atPosition10(account))],
    [
      '63',
      (account: string) =>
        account.startsWith('0') && (atPosition8(account) || (account.startsWith('000') && atPosition10(account))),
    ],
  ])('moves the check digit of method %s to position 10, and of no other number', (method, isPublished) => {
    const zeros = fc.nat({ max: 5 });
    const account = fc.tuple(zeros, fc.nat({ max: 9_999_999_999 })).map(([count, number]) => {
      const digits = String(number).padStart(10, '0');
      return '0'.repeat(count) + digits.slice(count);
    });
    fc.assert(
      fc.property(account, (number) => {
        expect(checkGermanAccount(method, number) === 'PASSED').toBe(isPublished(number));
      }),
      { numRuns: 2_000 },
    );
  });

  it('has the published example of 63: customer 123456, check digit 6', () => {
    expect(digitOf('123456')).toBe('6');
    expect(['123456600', '0001234566'].map((account) => checkGermanAccount('63', account))).toEqual([
      'PASSED',
      'PASSED',
    ]);
    expect(['1123456600', '0011234566'].map((account) => checkGermanAccount('63', account))).toEqual([
      'FAILED',
      'FAILED',
    ]);
  });
});

describe('the special cases of the methods', () => {
  it.each([
    ['24 does not check a 3 at position 1', '24', '6307118608', 'PASSED'],
    ['24 does not check the first three digits after a 9', '24', '9997118603', 'PASSED'],
    ['24 checks the first three digits otherwise', '24', '1307118608', 'FAILED'],
    // Published as wrong.
    ['91 refuses what fails in all four ways', '91', '8840010000', 'FAILED'],
    ['91 refuses what fails in all four ways, again', '91', '8840057000', 'FAILED'],
    ['A4 checks a number with 99 at position 3 by eleven', 'A4', '0099503010', 'PASSED'],
    ['A4 refuses another check digit there', 'A4', '0099503011', 'FAILED'],
    ['A4 does not check it by seven', 'A4', '0099503015', 'FAILED'],
    // As 00 over positions 3 to 9: the number is a test number of 00.
    ['60 checks the digits after the sub-account', '60', '1209290701', 'PASSED'],
    ['60 does not check the sub-account', '60', '9909290701', 'PASSED'],
    ['60 refuses another check digit', '60', '1209290702', 'FAILED'],
    ['61 checks the last two digits behind an 8', '61', '0260760482', 'FAILED'],
    ['61 does not check the last two digits otherwise', '61', '2063099299', 'PASSED'],
    ['63 has no numbers of ten digits', '63', '1234567600', 'FAILED'],
    ['63 checks the customer number before the sub-account', '63', '0123456699', 'PASSED'],
    ['76 has no accounts of type 1', '76', '1012345600', 'FAILED'],
    ['76 does not check the type of account', '76', '4012345600', 'PASSED'],
    ['76 reads the type of account at position 3 if the sub-account was left out', '76', '0090123456', 'PASSED'],
    ['76 has no accounts of type 1 there either', '76', '0010123456', 'FAILED'],
    // 2 * 5 = 10 leaves 10.
    ['76 cannot check numbers with the remainder 10', '76', '4000005000', 'NOT_APPLICABLE'],
    ['76 cannot check them without the sub-account either', '76', '0040000050', 'NOT_APPLICABLE'],
    ['99 has no check digits from 0396000000', '99', '0396000000', 'NOT_APPLICABLE'],
    ['99 has no check digits to 0499999999', '99', '0499999999', 'NOT_APPLICABLE'],
    ['99 checks the number before these', '99', '0395999999', 'FAILED'],
    ['99 checks the number after these', '99', '0500000000', 'FAILED'],
    ['28 writes a remainder of 1 as 0', '28', '19999000', 'PASSED'],
    ['28 needs the sub-account', '28', '91300002', 'FAILED'],
  ])('%s', (_, method, account, result) => {
    expect(checkGermanAccount(method, account)).toBe(result);
  });
});

describe('nothing is checked', () => {
  it.each([
    ['by method 09, which has no check digit', '09', '9290701'],
    ['by a method that is not implemented', 'B8', '0734192657'],
    ['by a method that does not exist', '', '9290701'],
    ['of an empty number', '00', ''],
    ['of eleven digits', '00', '00009290701'],
    ['of a number with a letter', '00', '929070X'],
    ['of digits of another script', '00', '٩٢٩٠٧٠١'],
  ])('%s', (_, method, account) => {
    expect(checkGermanAccount(method, account)).toBe('NOT_APPLICABLE');
  });
});

describe('for any number', () => {
  it('no method throws, and at most one check digit is right', () => {
    const position: Record<string, number> = { '13': 8, '28': 8, '34': 8, '61': 8, '63': 8, '76': 8 };
    fc.assert(
      fc.property(fc.constantFrom(...methods), fc.stringMatching(/^\d{10}$/), (method, account) => {
        const at = position[method] ?? 10;
        const results = [...'0123456789'].map((digit) =>
          checkGermanAccount(method, account.slice(0, at - 1) + digit + account.slice(at)),
        );
        // A number that is read twice may have another check digit in each reading.
        const isReadTwice = account.startsWith('00') && ['13', '63', '76'].includes(method);
        if (!isReadTwice) expect(results.filter((result) => result === 'PASSED').length).toBeLessThanOrEqual(1);
      }),
      { numRuns: rounds(400) },
    );
  });

  it('no text is an error', () => {
    fc.assert(
      fc.property(fc.string(), fc.string({ unit: anyCharacter }), (method, account) => {
        expect(['PASSED', 'FAILED', 'NOT_APPLICABLE']).toContain(checkGermanAccount(method, account));
      }),
    );
  });
});

function list(method: string, positions: readonly number[], accounts: string): readonly Published[] {
  return accounts.split(' ').map((account) => ({ method, account, positions }));
}

function from(first: number, last: number): readonly number[] {
  return Array.from({ length: last - first + 1 }, (_, index) => first + index);
}

/** The number in ten digits, with each other digit at this position. */
function changes(account: string, position: number): readonly string[] {
  const whole = account.padStart(10, '0');
  const others = [...'0123456789'].filter((digit) => digit !== whole[position - 1]);
  return others.map((digit) => whole.slice(0, position - 1) + digit + whole.slice(position));
}
