import { type CheckResult, checkGermanAccount } from './german-account-checks.ts';
import { mod97 } from './mod97.ts';
import { findCountryFormat, findUnregisteredFormat, type Span } from './registry.ts';
import { calcLuhn, calcModulus10, weightedSum } from './weighted-sums.ts';

/** The national check digits of a country. All functions expect a BBAN with the structure of the country. */
export interface NationalCheck {
  /** Whether the rule applies to this account; absent if it applies to all accounts. */
  covers?(bban: string): boolean;
  /** Two groups if bank and account, or account prefix and account, have check digits of their own. */
  groups: readonly CheckDigits[];
}

/** Check digits of a BBAN, or the check letter of IT and SM. */
export interface CheckDigits extends Span {
  /** The right check digits, whatever the BBAN has in their place; null if none are right: no such account exists. */
  calc(bban: string): string | null;
}

interface NationalCheckOptions {
  /** The method of a German bank, as in the bank file of the Bundesbank; without it, German accounts are not checked. */
  germanMethod?: string | null | undefined;
}

/**
 * Checks the national check digits of a compacted IBAN; the check digits of the IBAN itself do not matter.
 * NOT_APPLICABLE if the country has no known check, the structure is wrong, or the rule does not cover the account. A
 * failure is a reason to ask, never to reject: banks have exemptions.
 * @example
 * nationalCheck('ES9121000418450200051332') // => 'PASSED'
 * nationalCheck('ES0221000419450200051332') // => 'FAILED'
 * nationalCheck('DE89370400440532013000') // => 'NOT_APPLICABLE'
 * nationalCheck('DE89370400440532013000', { germanMethod: '13' }) // => 'PASSED'
 */
export function nationalCheck(iban: string, { germanMethod }: NationalCheckOptions = {}): CheckResult {
  const country = iban.slice(0, 2);
  const format = findCountryFormat(country) ?? findUnregisteredFormat(country);
  if (format === null || /[^A-Z0-9]/.test(iban) || !format.regex.test(iban)) return 'NOT_APPLICABLE';
  const bban = iban.slice(4);
  if (country === 'DE') return checkGermanAccount(germanMethod ?? '', bban.slice(8));
  const check = findNationalCheck(country);
  if (check === null || check.covers?.(bban) === false) return 'NOT_APPLICABLE';
  return findWrongCheckDigits(check, bban).length === 0 ? 'PASSED' : 'FAILED';
}

/**
 * The check of a country or, for a territory, of its parent; null if none is known.
 * @example
 * findNationalCheck('BE').groups[0].calc('539007547000') // => '34'
 */
export function findNationalCheck(country: string): NationalCheck | null {
  return checks.get(findCountryFormat(country)?.parent ?? country) ?? null;
}

/** The groups of check digits that are not right, whether or not the check covers the account. */
export function findWrongCheckDigits({ groups }: NationalCheck, bban: string): readonly CheckDigits[] {
  return groups.filter(({ first, last, calc }) => calc(bban) !== bban.slice(first - 1, last));
}

const checks: ReadonlyMap<string, NationalCheck> = new Map<string, NationalCheck>([
  ...inEach('BI DJ FR MC MR', { groups: [cleRib(23)] }),
  ...inEach('TN', { groups: [cleRib(20)] }),
  ...inEach('ME', { groups: [mod9710(18)] }),
  ...inEach('BA XK', { groups: [mod9710(16)] }),
  ...inEach('MK SI', { groups: [mod9710(15)] }),
  ...inEach('PT ST', { groups: [mod9710(21)] }),
  ...inEach('TL', { groups: [mod9710(19)] }),
  // Accounts of this bank have other check digits.
  ...inEach('RS', { groups: [mod9710(18)], covers: (bban) => !bban.startsWith('908') }),
  ...inEach('AL', { groups: [lastDigit({ first: 1, last: 8 }, [3, 7, 9, 1])] }),
  ...inEach('BE', { groups: [{ first: 11, last: 12, calc: calcBelgium }] }),
  ...inEach('CZ SK', { groups: czechGroups() }),
  ...inEach('EE', { groups: [lastDigit({ first: 3, last: 16 }, [7, 3, 1])] }),
  ...inEach('ES', { groups: [{ first: 9, last: 10, calc: calcSpain }] }),
  ...inEach('FI', { groups: [{ first: 14, last: 14, calc: (bban) => String(calcLuhn(bban.slice(0, -1))) }] }),
  // The bank code, and the account.
  ...inEach('HR', { groups: [mod1110({ first: 1, last: 7 }), mod1110({ first: 8, last: 17 })] }),
  // Bank and branch, whose check digit customers write as the first digit of the account; and the account.
  ...inEach('HU', {
    groups: [lastDigit({ first: 1, last: 8 }, [3, 7, 9, 1]), lastDigit({ first: 9, last: 24 }, [3, 7, 9, 1])],
  }),
  ...inEach('IT SM', { groups: [{ first: 1, last: 1, calc: calcCin }] }),
  // Former Postbank numbers, of up to seven digits, have no check digit.
  ...inEach('NL', {
    groups: [{ first: 14, last: 14, calc: calcNetherlands }],
    covers: (bban) => !bban.startsWith('000', 4),
  }),
  ...inEach('NO', { groups: [{ first: 11, last: 11, calc: calcNorway }], covers: (bban) => !isGroup00(bban) }),
  // The bank code.
  ...inEach('PL', { groups: [lastDigit({ first: 1, last: 8 }, [7, 9, 3, 1])] }),
  // Bank codes that end in 000 to 049 are those of the Bank of Russia, whose accounts have another rule, as have letters.
  ...inEach('RU', {
    groups: [{ first: 18, last: 18, calc: calcRussia }],
    covers: (bban) => /^\d{6}(?!0[0-4])\d{23}$/.test(bban),
  }),
  // Outside the registry.
  ...inEach('AO CV MZ', { groups: [mod9710(21)] }),
  ...inEach('CF CG CM GA GQ KM MG TD', { groups: [cleRib(23)] }),
  ...inEach('BF BJ CI MA ML NE SN TG', { groups: [cleRib(24)] }),
]);

function inEach(countries: string, check: NationalCheck): readonly (readonly [string, NationalCheck])[] {
  return countries.split(' ').map((country) => [country, check]);
}

/** The last digit of these makes their sum a multiple of 10; its own weight is 1. */
function lastDigit({ first, last }: Span, weights: readonly number[]): CheckDigits {
  const calc = (bban: string) => String(calcModulus10(bban.slice(first - 1, last - 1), weights));
  return { first: last, last, calc };
}

/**
 * ISO 7064 MOD 97-10 over a whole BBAN of this length, whose last two digits are the check digits. Letters, which MK allows,
 * count from A = 10 to Z = 35.
 */
function mod9710(length: number): CheckDigits {
  const calc = (bban: string) => String(98 - mod97(`${bban.slice(0, -2)}00`)).padStart(2, '0');
  return { first: length - 1, last: length, calc };
}

/**
 * The clé RIB in the last two digits of a BBAN of this length, 01 to 97: FR and MC, and from there many African countries. It
 * makes the BBAN divisible by 97, which is equivalent to the French weights 89, 15 and 3. A letter counts as a digit: A to I
 * and J to R as 1 to 9, S to Z as 2 to 9.
 */
function cleRib(length: number): CheckDigits {
  const toDigit = (letter: string) => '12345678912345678923456789'.charAt(letter.charCodeAt(0) - A);
  const calc = (bban: string) =>
    String(97 - mod97(`${bban.slice(0, -2).replace(/[A-Z]/g, toDigit)}00`)).padStart(2, '0');
  return { first: length - 1, last: length, calc };
}

/** ISO 7064 MOD 11,10: the last of these digits checks the others. */
function mod1110({ first, last }: Span): CheckDigits {
  const calc = (bban: string) => {
    let product = 10;
    for (const digit of bban.slice(first - 1, last - 1)) product = (((product + Number(digit)) % 10 || 10) * 2) % 11;
    return String((11 - product) % 10);
  };
  return { first: last, last, calc };
}

/** CZ and SK: the account prefix and the account number; the bank code is not checked. */
function czechGroups(): readonly CheckDigits[] {
  const weights = [2, 4, 8, 5, 10, 9, 7, 3, 6];
  return [
    { first: 10, last: 10, calc: (bban) => toMultipleOf11(weightedSum(bban.slice(4, 9), weights)) },
    { first: 20, last: 20, calc: (bban) => toMultipleOf11(weightedSum(bban.slice(10, 19), weights)) },
  ];
}

/** The first ten digits modulo 97, where 0 is written as 97. */
function calcBelgium(bban: string): string {
  return String(Number(bban.slice(0, 10)) % 97 || 97).padStart(2, '0');
}

/** Two digits between branch and account: the first checks bank and branch, the second the account. */
function calcSpain(bban: string): string {
  return calcSpanishDigit(`00${bban.slice(0, 8)}`) + calcSpanishDigit(bban.slice(10));
}

/** 10 is written as 1, and 11 as 0. */
function calcSpanishDigit(tenDigits: string): string {
  const digit = 11 - (weightedSum(tenDigits, [6, 3, 7, 9, 10, 5, 8, 4, 2, 1]) % 11);
  if (digit === 10) return '1';
  return digit === 11 ? '0' : String(digit);
}

/** The CIN of IT and SM: the first letter of the BBAN checks all characters after it, with other values in odd places. */
function calcCin(bban: string): string {
  // By rank: both 0 to 9 and A to Z count from 0, so 0 and A have the same rank.
  const oddPlaceValues = [1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23];
  const body = bban.slice(1);
  let sum = 0;
  for (let index = 0; index < body.length; index += 1) {
    const code = body.charCodeAt(index);
    const rank = code >= A ? code - A : code - zero;
    // Index 0 is the first place, which is odd.
    sum += index % 2 === 0 ? (oddPlaceValues[rank] ?? 0) : rank;
  }
  return String.fromCharCode(A + (sum % 26));
}

/** The elfproef over the ten digits of the account number. */
function calcNetherlands(bban: string): string | null {
  return toMultipleOf11(weightedSum(bban.slice(4, 13), [2, 3, 4, 5, 6, 7, 8, 9, 10]));
}

/**
 * A last digit modulo 11. For accounts in group 00 (fifth and sixth digit) sources differ: ECBS TR201 checks only the four
 * digits after the group, others all ten. These accounts are completed according to TR201 and never checked.
 */
function calcNorway(bban: string): string | null {
  const checked = bban.slice(isGroup00(bban) ? 6 : 0, 10);
  return toMultipleOf11(weightedSum(checked, [2, 3, 4, 5, 6, 7]));
}

function isGroup00(bban: string): boolean {
  return bban.startsWith('00', 4);
}

/**
 * The ninth digit of the account checks the last three of the bank code and the account of twenty digits: the sum of all,
 * weighted 7-1-3 from the left, is a multiple of 10. Its own weight is 3, whose inverse modulo 10 is 7.
 */
function calcRussia(bban: string): string {
  const others = `${bban.slice(6, 17)}0${bban.slice(18)}`;
  return String((calcModulus10(others, [1, 7, 3]) * 7) % 10);
}

/** The digit that makes a sum a multiple of 11; null if it would have to be 10: such numbers are not issued. */
function toMultipleOf11(sum: number): string | null {
  const digit = (11 - (sum % 11)) % 11;
  return digit === 10 ? null : String(digit);
}

const zero = 48;
const A = 65;
