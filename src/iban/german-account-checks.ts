import { calcLuhn, calcModulus10, weightedSum } from './weighted-sums.ts';

/** NOT_APPLICABLE if no rule is known, or if it does not apply to this account. */
export type CheckResult = 'PASSED' | 'FAILED' | 'NOT_APPLICABLE';

/**
 * Checks the check digit of a German account number by the method of its bank ("Prüfzifferberechnungsmethode"), which the
 * bank file of the Bundesbank has per bank code: https://www.bundesbank.de, "Prüfzifferberechnung für Kontonummern".
 * Implemented are the methods of 95 % of the bank codes that have a check digit. NOT_APPLICABLE for all others (09: no check
 * digit), and for anything but 1 to 10 digits.
 * @example
 * checkGermanAccount('00', '9290701') // => 'PASSED'
 * checkGermanAccount('00', '9290702') // => 'FAILED'
 * checkGermanAccount('09', '9290701') // => 'NOT_APPLICABLE'
 */
export function checkGermanAccount(method: string, account: string): CheckResult {
  if (!/^\d{1,10}$/.test(account)) return 'NOT_APPLICABLE';
  return methods.get(method)?.(account.padStart(10, '0')) ?? 'NOT_APPLICABLE';
}

/** The same for ten digits by a method with a sub-account (13, 63, 76), which these digits include. */
export function checkAsWritten(method: string, account: string): CheckResult {
  return asWritten.get(method)?.(account) ?? 'NOT_APPLICABLE';
}

/** Expects ten digits. */
type Method = (account: string) => CheckResult;

const asWritten: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['13', checkNext(2, 7, calcLuhn)],
  ['63', check63],
  ['76', check76],
]);

/** Positions count from 1 on the left, weights from the right. */
const methods: ReadonlyMap<string, Method> = new Map<string, Method>([
  ['00', checkNext(1, 9, calcLuhn)],
  ['01', checkNext(1, 9, calcModulus10, [3, 7, 1])],
  ['03', checkNext(1, 9, calcModulus10, [2, 1])],
  ['05', checkNext(1, 9, calcModulus10, [7, 3, 1])],
  ['06', checkNext(1, 9, calcModulus11, [2, 3, 4, 5, 6, 7])],
  ['10', checkNext(1, 9, calcModulus11, [2, 3, 4, 5, 6, 7, 8, 9, 10])],
  ['18', checkNext(1, 9, calcModulus10, [3, 9, 7, 1])],
  ['19', checkNext(1, 9, calcModulus11, [2, 3, 4, 5, 6, 7, 8, 9, 1])],
  ['20', checkNext(1, 9, calcModulus11, [2, 3, 4, 5, 6, 7, 8, 9, 3])],
  ['24', check24],
  // The sub-account (positions 9 and 10) is not checked, but always there.
  ['28', checkNext(1, 7, calcModulus11, [2, 3, 4, 5, 6, 7, 8])],
  ['32', checkNext(4, 9, calcModulus11, [2, 3, 4, 5, 6, 7])],
  ['33', checkNext(5, 9, calcModulus11, [2, 3, 4, 5, 6])],
  ['34', checkNext(1, 7, calcModulus11, [2, 4, 8, 5, 10, 9, 7])],
  ['38', checkNext(4, 9, calcModulus11, [2, 4, 8, 5, 10, 9])],
  // The sub-account, positions 1 and 2, is not checked.
  ['60', checkNext(3, 9, calcLuhn)],
  ['61', check61],
  ['88', check88],
  ['91', check91],
  ['99', check99],
  ['A4', checkA4],
  ...Array.from(asWritten, ([name, check]) => [name, withSubaccount(check)] as const),
]);

/** The digit after these is the right one for them. */
function checkNext(
  first: number,
  last: number,
  calc: (checked: string, weights: readonly number[]) => number,
  weights: readonly number[] = [],
): Method {
  return (account) => compare(account, last + 1, calc(digits(account, first, last), weights));
}

/**
 * A sub-account 00 at the end may have been left out, and zeros put before the number instead: if the account as it is does
 * not pass, it is read as if it were two positions further to the left. It fails only if both readings fail.
 */
function withSubaccount(check: Method): Method {
  return (account) => {
    const result = check(account);
    if (result === 'PASSED' || !account.startsWith('00')) return result;
    const shifted = check(`${account.slice(2)}00`);
    return shifted === 'FAILED' ? result : shifted;
  };
}

/**
 * The weights begin at the first digit that is not 0, and each is added to its product; the sum of the remainders is checked. The
 * first digit does not count if it is 3 to 6, nor do the first three if it is 9.
 */
function check24(account: string): CheckResult {
  const checked = digits(account, 1, 9).replace(/^(?:[3-6]|9..)?0*/, '');
  const summands = [...checked].map((digit, index) => ((Number(digit) + 1) * ((index % 3) + 1)) % 11);
  return compare(account, 10, summands.reduce((sum, summand) => sum + summand, 0) % 10);
}

/** An 8 at position 9 means that the last two digits are checked too; the check digit remains at position 8. */
function check61(account: string): CheckResult {
  const checked = digits(account, 1, 7) + (account.charAt(8) === '8' ? digits(account, 9, 10) : '');
  return compare(account, 8, calcLuhn(checked));
}

/** Numbers have nine digits at most: position 1 must be 0. */
function check63(account: string): CheckResult {
  return account.startsWith('0') ? compare(account, 8, calcLuhn(digits(account, 2, 7))) : 'FAILED';
}

/** Position 1 is the type of account: 0, 4, 6, 7, 8 or 9. The check digit is the remainder itself; with 10, there is none. */
function check76(account: string): CheckResult {
  if (!/^[046789]/.test(account)) return 'FAILED';
  const remainder = weightedSum(digits(account, 2, 7), [2, 3, 4, 5, 6, 7]) % 11;
  return remainder === 10 ? 'NOT_APPLICABLE' : compare(account, 8, remainder);
}

/** A 9 at position 3 is checked too. */
function check88(account: string): CheckResult {
  const first = account.charAt(2) === '9' ? 3 : 4;
  return compare(account, 10, calcModulus11(digits(account, first, 9), [2, 3, 4, 5, 6, 7, 8]));
}

/** Four ways to calculate the check digit at position 7; the last three digits count in the third only. */
function check91(account: string): CheckResult {
  const checked = digits(account, 1, 6);
  return passesAny([
    compare(account, 7, calcModulus11(checked, [2, 3, 4, 5, 6, 7])),
    compare(account, 7, calcModulus11(checked, [7, 6, 5, 4, 3, 2])),
    compare(account, 7, calcModulus11(`${checked}0${digits(account, 8, 10)}`, [2, 3, 4, 0, 5, 6, 7, 8, 9, 10])),
    compare(account, 7, calcModulus11(checked, [2, 4, 8, 5, 10, 9])),
  ]);
}

/** Numbers with 99 at positions 3 and 4 are not checked by the first two ways; the last is method 93. */
function checkA4(account: string): CheckResult {
  const special = digits(account, 3, 4) === '99';
  const checked = digits(account, 4, 9);
  const first = special
    ? [compare(account, 10, calcModulus11(digits(account, 5, 9), [2, 3, 4, 5, 6]))]
    : [
        compare(account, 10, calcModulus11(checked, [2, 3, 4, 5, 6, 7])),
        compare(account, 10, calcModulus7(checked, [2, 3, 4, 5, 6, 7])),
      ];
  return passesAny([...first, check93(account)]);
}

/** The customer number is at the beginning, or after four zeros at the end; the check digit follows it. */
function check93(account: string): CheckResult {
  const [checked, position] = account.startsWith('0000') ? [digits(account, 5, 9), 10] : [digits(account, 1, 5), 6];
  return passesAny([
    compare(account, position, calcModulus11(checked, [2, 3, 4, 5, 6])),
    compare(account, position, calcModulus7(checked, [2, 3, 4, 5, 6])),
  ]);
}

function passesAny(results: readonly CheckResult[]): CheckResult {
  return results.includes('PASSED') ? 'PASSED' : 'FAILED';
}

/** As 06, but a range of numbers has no check digit. */
function check99(account: string): CheckResult {
  if (account >= '0396000000' && account <= '0499999999') return 'NOT_APPLICABLE';
  return compare(account, 10, calcModulus11(digits(account, 1, 9), [2, 3, 4, 5, 6, 7]));
}

function digits(account: string, first: number, last: number): string {
  return account.slice(first - 1, last);
}

function compare(account: string, position: number, digit: number): CheckResult {
  return account.charAt(position - 1) === String(digit) ? 'PASSED' : 'FAILED';
}

/** 11 minus the remainder; 10 and 11 are written as 0. */
function calcModulus11(checked: string, weights: readonly number[]): number {
  const remainder = weightedSum(checked, weights) % 11;
  return remainder < 2 ? 0 : 11 - remainder;
}

/** 7 minus the remainder; 7 is written as 0. */
function calcModulus7(checked: string, weights: readonly number[]): number {
  return (7 - (weightedSum(checked, weights) % 7)) % 7;
}
