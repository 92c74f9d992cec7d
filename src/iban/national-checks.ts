import { parseIban } from './iban.ts';
import { mod97 } from './mod97.ts';
import { findCountryFormat } from './registry.ts';

/** The national check digits of a country. All functions expect a BBAN with the structure of the country. */
export interface NationalCheck {
  /** Whether the rule applies to this account; absent if it applies to all accounts. */
  covers?(bban: string): boolean;
  /** Whether the check digits are right. */
  passes(bban: string): boolean;
  /**
   * The BBAN with its check digits computed, whatever it had in their place; null if there are no valid check digits,
   * so that no such account exists. Absent if the check digits are part of the account number or bank code.
   */
  complete?(bban: string): string | null;
}

/**
 * Checks the national check digits of a compacted IBAN; the check digits of the IBAN itself do not matter.
 * NOT_APPLICABLE if the country has no known check, the structure is wrong, or the rule does not cover the account. A
 * failure is a reason to ask, never to reject: banks have exemptions.
 * @example
 * nationalCheck('ES9121000418450200051332') // => 'PASSED'
 * nationalCheck('ES0221000419450200051332') // => 'FAILED'
 * nationalCheck('DE89370400440532013000') // => 'NOT_APPLICABLE'
 */
export function nationalCheck(iban: string): 'PASSED' | 'FAILED' | 'NOT_APPLICABLE' {
  const bban = parseIban(iban)?.bban;
  const check = findNationalCheck(iban.slice(0, 2));
  if (bban === undefined || check === null || check.covers?.(bban) === false) return 'NOT_APPLICABLE';
  return check.passes(bban) ? 'PASSED' : 'FAILED';
}

/**
 * The check of a country or, for a territory, of its parent; null if none is known.
 * @example
 * findNationalCheck('BE').complete('539007547000') // => '539007547034'
 */
export function findNationalCheck(country: string): NationalCheck | null {
  return checks.get(findCountryFormat(country)?.parent ?? country) ?? null;
}

// CF, CG, CM, GA, GQ, KM, MG and TD have a clé RIB too, but are not in the registry.
const checks: ReadonlyMap<string, NationalCheck> = new Map<string, NationalCheck>([
  ['BA', checkCompleting(completeMod9710)],
  ['BE', checkCompleting(completeBelgium)],
  ['CZ', { passes: passesCzechia }],
  ['DJ', checkCompleting(completeCleRib)],
  ['EE', checkCompleting(completeEstonia)],
  ['ES', checkCompleting(completeSpain)],
  ['FI', checkCompleting(completeFinland)],
  ['FR', checkCompleting(completeCleRib)],
  ['HR', { passes: passesCroatia }],
  ['HU', { passes: passesHungary, complete: completeHungary }],
  ['IT', checkCompleting(completeCin)],
  ['MC', checkCompleting(completeCleRib)],
  ['ME', checkCompleting(completeMod9710)],
  ['MK', checkCompleting(completeMod9710)],
  ['MR', checkCompleting(completeCleRib)],
  // Former Postbank numbers, of up to seven digits, have no check digit.
  ['NL', { passes: passesNetherlands, covers: (bban) => !bban.startsWith('000', 4) }],
  ['NO', { ...checkCompleting(completeNorway), covers: (bban) => !isGroup00(bban) }],
  ['PL', { passes: passesPoland }],
  ['PT', checkCompleting(completeMod9710)],
  // Accounts of this bank have other check digits, in RS as in SI.
  ['RS', { ...checkCompleting(completeMod9710), covers: (bban) => !bban.startsWith('908') }],
  ['SI', { ...checkCompleting(completeMod9710), covers: (bban) => !bban.startsWith('01') }],
  ['SK', { passes: passesCzechia }],
  ['SM', checkCompleting(completeCin)],
  ['TL', checkCompleting(completeMod9710)],
  ['TN', checkCompleting(completeCleRib)],
  ['XK', checkCompleting(completeMod9710)],
]);

/** A check that passes if completing the BBAN does not change it. */
function checkCompleting(complete: (bban: string) => string | null): NationalCheck {
  return { complete, passes: (bban) => complete(bban) === bban };
}

/**
 * ISO 7064 MOD 97-10 over the whole BBAN, whose last two digits are the check digits. Letters, which MK allows, count from
 * A = 10 to Z = 35.
 */
function completeMod9710(bban: string): string {
  const body = bban.slice(0, -2);
  return body + String(98 - mod97(`${body}00`)).padStart(2, '0');
}

/** The first ten digits modulo 97, where 0 is written as 97. */
function completeBelgium(bban: string): string {
  const body = bban.slice(0, 10);
  return body + String(Number(body) % 97 || 97).padStart(2, '0');
}

/** CZ and SK: the weighted sums of account prefix and account number are multiples of 11; the bank code is not checked. */
function passesCzechia(bban: string): boolean {
  const weights = [6, 3, 7, 9, 10, 5, 8, 4, 2, 1];
  return weightedSum(bban.slice(4, 10), weights.slice(4)) % 11 === 0 && weightedSum(bban.slice(10), weights) % 11 === 0;
}

/**
 * The clé RIB in the last two digits of the BBAN, 01 to 97: FR and MC, and from there DJ, MR and TN. It makes the BBAN
 * divisible by 97, which is equivalent to the French weights 89, 15 and 3. A letter counts as a digit: A to I
 * and J to R as 1 to 9, S to Z as 2 to 9.
 */
function completeCleRib(bban: string): string {
  const body = bban.slice(0, -2);
  const digits = body.replace(/[A-Z]/g, (letter) => '12345678912345678923456789'.charAt(letter.charCodeAt(0) - A));
  return body + String(97 - mod97(`${digits}00`)).padStart(2, '0');
}

/** The last digit makes the sum of all digits after the bank code a multiple of 10, weighted 7-3-1 from the right. */
function completeEstonia(bban: string): string {
  const body = bban.slice(0, -1);
  const fromTheRight = [...body.slice(2)].reverse().join('');
  return body + toMultipleOf10(weightedSum(fromTheRight, [7, 3, 1]));
}

/** Two digits between branch and account: the first checks bank and branch, the second the account. */
function completeSpain(bban: string): string {
  const [bankAndBranch, account] = [bban.slice(0, 8), bban.slice(10)];
  return bankAndBranch + calcSpanishDigit(`00${bankAndBranch}`) + calcSpanishDigit(account) + account;
}

/** 10 is written as 1, and 11 as 0. */
function calcSpanishDigit(tenDigits: string): string {
  const digit = 11 - (weightedSum(tenDigits, [1, 2, 4, 8, 5, 10, 9, 7, 3, 6]) % 11);
  if (digit === 10) return '1';
  return digit === 11 ? '0' : String(digit);
}

/** FI and AX: Luhn over all fourteen digits; the first, third ... thirteenth are doubled. */
function completeFinland(bban: string): string {
  const doubledDigitSums = [0, 2, 4, 6, 8, 1, 3, 5, 7, 9];
  const body = bban.slice(0, -1);
  const values = [...body].map((digit, index) => (index % 2 === 0 ? doubledDigitSums[Number(digit)] : Number(digit)));
  return body + toMultipleOf10(values.reduce<number>((sum, value = 0) => sum + value, 0));
}

/** ISO 7064 MOD 11,10 twice: over the seven digits of the bank code and over the ten of the account. */
function passesCroatia(bban: string): boolean {
  return passesMod1110(bban.slice(0, 7)) && passesMod1110(bban.slice(7));
}

function passesMod1110(digits: string): boolean {
  let product = 10;
  for (const digit of digits.slice(0, -1)) {
    product = (((product + Number(digit)) % 10 || 10) * 2) % 11;
  }
  return (product + Number(digits.slice(-1))) % 10 === 1;
}

/**
 * The eighth digit checks bank and branch, the last one the sixteen digits of the account. Only the last one can be
 * completed: the eighth is the first digit of the account number as customers write it.
 */
function passesHungary(bban: string): boolean {
  return weightedSum(bban.slice(0, 8), hungarianWeights) % 10 === 0 && completeHungary(bban) === bban;
}

function completeHungary(bban: string): string {
  const body = bban.slice(0, -1);
  return body + toMultipleOf10(weightedSum(body.slice(8), hungarianWeights));
}

const hungarianWeights = [9, 7, 3, 1];

/** The CIN of IT and SM: the first letter of the BBAN checks all characters after it, with other values in odd places. */
function completeCin(bban: string): string {
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
  return String.fromCharCode(A + (sum % 26)) + body;
}

/** The elfproef over the ten digits of the account number. */
function passesNetherlands(bban: string): boolean {
  return weightedSum(bban.slice(4), [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]) % 11 === 0;
}

/**
 * A last digit modulo 11; numbers whose check digit would be 10 are not issued. For accounts in group 00 (fifth and
 * sixth digit) sources differ: ECBS TR201 checks only the four digits after the group, others all ten. These accounts
 * are completed according to TR201 and never checked.
 */
function completeNorway(bban: string): string | null {
  const body = bban.slice(0, -1);
  const checked = isGroup00(bban) ? body.slice(6) : body;
  const digit = (11 - (weightedSum(checked, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
  return digit === 10 ? null : body + String(digit);
}

function isGroup00(bban: string): boolean {
  return bban.startsWith('00', 4);
}

/** The eighth digit of the sort code checks the seven before it. It is part of the bank code, so it is never completed. */
function passesPoland(bban: string): boolean {
  return weightedSum(bban.slice(0, 8), [3, 9, 7, 1, 3, 9, 7, 1]) % 10 === 0;
}

/** The sum of each digit times its weight; the weights repeat if there are more digits. */
function weightedSum(digits: string, weights: readonly number[]): number {
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    sum += Number(digits[index]) * (weights[index % weights.length] ?? 0);
  }
  return sum;
}

/** The digit that makes a sum a multiple of 10. */
function toMultipleOf10(sum: number): string {
  return String((10 - (sum % 10)) % 10);
}

const zero = 48;
const A = 65;
