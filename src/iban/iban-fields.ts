import type { GermanIbanRule, RuleRefusal } from './german-iban-rules.ts';
import { type CheckDigits, findNationalCheck } from './national-checks.ts';
import {
  type CountryFormat,
  characterTypes,
  findCountryFormat,
  findUnregisteredFormat,
  type Span,
} from './registry.ts';

export const ibanFieldNames = ['bankCode', 'branch', 'accountNumber'] as const;

export type IbanFieldName = (typeof ibanFieldNames)[number];

/** A part of the BBAN that is required to generate an IBAN. */
export interface IbanField {
  name: IbanFieldName;
  length: number;
  characters: 'digits' | 'letters' | 'letters and digits';
  /** Whether a shorter value is filled up with zeros on the left. */
  padded: boolean;
}

type IbanFieldReason =
  | 'REQUIRED'
  | 'WRONG_LENGTH'
  | 'WRONG_CHARACTERS'
  | RuleRefusal
  | 'NOT_IN_COUNTRY'
  | 'UNKNOWN_COUNTRY'
  | 'NOT_REGISTERED'
  | 'TERRITORY';

/** A problem of one field. The message contains lengths and character types, but never the account number. */
export interface IbanFieldProblem {
  field: 'country' | IbanFieldName;
  reason: IbanFieldReason;
  /** Allowed numbers of characters; null if the country has no such field. */
  length: LengthRange | null;
  /** What is wrong and what would be right, without names of the API. */
  message: string;
}

/** Inclusive. */
export interface LengthRange {
  min: number;
  max: number;
}

/**
 * The fields that a country or territory requires, by its code in capitals; empty if it has no IBANs.
 * @example
 * ibanFields('CZ')[1] // => { name: 'branch', length: 6, characters: 'digits', padded: true }
 */
export function ibanFields(country: string): readonly IbanField[] {
  const format = findCountryFormat(country);
  if (format === null) return [];
  return locateFields(format).map(({ name, length, characters, padded }) => ({ name, length, characters, padded }));
}

/** A field with its position in the BBAN. */
interface LocatedField extends IbanField {
  span: Span;
  /** The type of each character: n for a digit, a for a letter, c for either. */
  types: string;
  /** How many computed check digits it may include. */
  checkDigits: number;
}

/**
 * The fields of a country in the order of the BBAN. The account number does not include national check digits that can
 * be computed. It includes all others: after the number (FO, GL, SE, ST, XK), or within it if the registry does not separate
 * them (CZ, HR, HU's first digit, NL, RU). It also includes the type of account and its holder (BR).
 */
export function locateFields(format: CountryFormat): readonly LocatedField[] {
  const bbanTypes = characterTypes(format.format).slice(2);
  const locate = (name: IbanFieldName, span: Span): LocatedField => {
    const types = bbanTypes.slice(span.first - 1, span.last);
    const characters = nameCharacters(types);
    const adjacent = name === 'accountNumber' ? findAdjacentDigits(format) : null;
    const checkDigits = adjacent ? lengthOf(adjacent) : 0;
    return { name, length: types.length, characters, padded: isPadded(name, format), span, types, checkDigits };
  };
  return [
    locate('bankCode', format.bankCode),
    ...(format.branch ? [locate('branch', format.branch)] : []),
    locate('accountNumber', locateAccountNumber(format)),
  ];
}

/** The check digits that are in no field, so that they are computed; null if the fields include them or there are none. */
export function findComputedDigits({ country, nationalCheckDigits, bankCode }: CountryFormat): CheckDigits | null {
  const groups = findNationalCheck(country)?.groups ?? [];
  const separate = groups.find(
    ({ first, last }) => first === nationalCheckDigits?.first && last === nationalCheckDigits.last,
  );
  return separate && !contains(bankCode, separate) ? separate : null;
}

/** The computed check digits that are next to the account number; null for the letter of IT and SM. */
export function findAdjacentDigits(format: CountryFormat): CheckDigits | null {
  const { first, last } = locateAccountNumber(format);
  const computed = findComputedDigits(format);
  return computed?.last === first - 1 || computed?.first === last + 1 ? computed : null;
}

/** Their branch is the account prefix, which is written without leading zeros. */
export const paddedBranches: ReadonlySet<string> = new Set(['CZ', 'SK']);

/**
 * Countries whose account numbers must be complete. Zeros on the left would displace the leading characters (HU: a check
 * digit; BG, BY, GT, IS, RU: the type of account), belong in the middle (FI), or would hide a mistake: that check digits were
 * entered without the zeros at the beginning (BI), or that a digit of a number of fixed length is missing (AL, BE, EE, NO, PL).
 */
const completeAccounts: ReadonlySet<string> = new Set('AL BE BG BI BY EE FI GT HU IS NO PL RU'.split(' '));

function isPadded(name: IbanFieldName, { country, parent }: CountryFormat): boolean {
  const owner = parent ?? country;
  if (name === 'bankCode') return false;
  return name === 'branch' ? paddedBranches.has(owner) : !completeAccounts.has(owner);
}

/** From bank code and branch to the end, without computed check digits before (ES) or after it (FR). */
export function locateAccountNumber(format: CountryFormat): Span {
  const [first, last] = [(format.branch ?? format.bankCode).last + 1, format.length - 4];
  const computed = findComputedDigits(format);
  return {
    first: computed?.first === first ? computed.last + 1 : first,
    last: computed?.last === last ? computed.first - 1 : last,
  };
}

function nameCharacters(types: string): IbanField['characters'] {
  if (/^n+$/.test(types)) return 'digits';
  return /^a+$/.test(types) ? 'letters' : 'letters and digits';
}

interface GivenField {
  name: IbanFieldName;
  /** Undefined if the country has no such field. */
  field: LocatedField | undefined;
  /** Compacted; empty if missing. */
  value: string;
  format: CountryFormat;
}

/**
 * Finds the problem of a field; null if there is none. The message contains lengths and character types, but never the value,
 * which may be personal data.
 */
export function findFieldProblem({ name, field, value, format }: GivenField): IbanFieldProblem | null {
  const length = field ? rangeOf(field) : null;
  const report = (reason: IbanFieldReason, message: string) => ({ field: name, reason, length, message });
  const has = `The ${nouns[name]} has ${describeCount(value.length, 'character')}`;
  if (field === undefined) {
    return value === ''
      ? null
      : report('NOT_IN_COUNTRY', `${has}; an IBAN of ${format.country} has no ${nouns[name]}.`);
  }
  const article = name === 'accountNumber' ? 'an' : 'a';
  const expected = `${article} ${nouns[name]} of ${format.country} has ${describeExpected(field)}.`;
  if (value === '') return report('REQUIRED', `The ${nouns[name]} is missing; ${expected}`);
  const isRightLength = value.length === field.length || (field.padded && value.length < field.length);
  const misplaced = findMisplacedTypes(field, value, isRightLength);
  if (misplaced.length > 0) {
    return report('WRONG_CHARACTERS', `${has}, with ${join(misplaced)} where they are not allowed; ${expected}`);
  }
  return isRightLength ? null : report('WRONG_LENGTH', `${has}; ${expected}`);
}

/** The problem of the field with these check digits. The message contains the right ones, which alone identify no account. */
export function describeWrongDigits(group: CheckDigits, right: string | null, format: CountryFormat): IbanFieldProblem {
  const fields = locateFields(format);
  // Computed digits are in no field, but next to the account number.
  const located =
    fields.find(({ span }) => contains(span, group)) ?? fields.find(({ name }) => name === 'accountNumber');
  const field = located?.name ?? 'accountNumber';
  const span = located?.span ?? group;
  const describe = () => {
    if (right === null) return `cannot exist in ${format.country}: its check digit would be 10.`;
    const [noun, agreement] = right.length === 1 ? ['a check digit that does', 'it'] : ['check digits that do', 'they'];
    const mismatch = `${noun} not match; ${agreement} would be ${right}.`;
    if (group.last >= span.last) return `ends in ${mismatch}`;
    if (group.first <= span.first) return `begins with ${mismatch}`;
    return `has, in place ${group.first - span.first + 1}, ${mismatch}`;
  };
  const length = located ? rangeOf(located) : null;
  return { field, reason: 'WRONG_CHECK_DIGITS', length, message: `The ${nouns[field]} ${describe()}` };
}

const nouns: Readonly<Record<IbanFieldName, string>> = {
  bankCode: 'bank code',
  branch: 'branch',
  accountNumber: 'account number',
};

/** 8 digits; up to 10 digits; 4 letters and 2 digits; 7 digits, or 9 with its check digits. */
function describeExpected({ types, padded, checkDigits }: LocatedField): string {
  const runs = (types.match(/n+|a+|c+/g) ?? []).map((run) => {
    if (run.startsWith('n')) return describeCount(run.length, 'digit');
    const letters = describeCount(run.length, 'letter');
    if (run.startsWith('a')) return letters;
    return run.length === 1 ? `${letters} or digit` : `${letters} or digits`;
  });
  const complete = `, or ${types.length + checkDigits} with its check ${checkDigits === 1 ? 'digit' : 'digits'}`;
  return (padded ? 'up to ' : '') + join(runs) + (checkDigits > 0 ? complete : '');
}

/** From a number without the zeros on the left to one with its check digits. */
function rangeOf({ length, padded, checkDigits }: LocatedField): LengthRange {
  return { min: padded ? 1 : length, max: length + checkDigits };
}

/** The types of characters that are not allowed at their position or, at a wrong length, nowhere in the field. */
function findMisplacedTypes({ types, length }: LocatedField, value: string, isRightLength: boolean): readonly string[] {
  const aligned = types.slice(length - value.length);
  const misplaced = [...value].filter((character, index) =>
    isRightLength ? !fits(character, aligned[index]) : ![...types].some((type) => fits(character, type)),
  );
  return [...new Set(misplaced.map(nameType))].sort();
}

/** The characters of each type. */
const alphabets: Readonly<Record<string, RegExp>> = { n: /^[0-9]$/, a: /^[A-Z]$/, c: /^[A-Z0-9]$/ };

function fits(character: string, type = 'c'): boolean {
  return alphabets[type]?.test(character) ?? false;
}

function nameType(character: string): string {
  if (fits(character, 'n')) return 'digits';
  return fits(character, 'a') ? 'letters' : 'characters other than letters and digits';
}

function contains(outer: Span, inner: Span): boolean {
  return outer.first <= inner.first && inner.last <= outer.last;
}

export function lengthOf({ first, last }: Span): number {
  return last - first + 1;
}

function describeCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function join(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}

export const countryLength: LengthRange = { min: 2, max: 2 };

export function findCountryProblem(country: string): IbanFieldProblem {
  const report = (reason: IbanFieldReason, message: string): IbanFieldProblem => {
    return { field: 'country', reason, length: countryLength, message };
  };
  const expected = 'a country code has 2 letters.';
  if (country === '') return report('REQUIRED', `The country is missing; ${expected}`);
  if (country.length !== 2) {
    return report('WRONG_LENGTH', `The country has ${describeCount(country.length, 'character')}; ${expected}`);
  }
  if (!/^[A-Z]{2}$/.test(country)) {
    return report('WRONG_CHARACTERS', `The country has characters other than letters; ${expected}`);
  }
  if (!findUnregisteredFormat(country))
    return report('UNKNOWN_COUNTRY', `The country is ${country}, which has no IBANs.`);
  const only = 'an IBAN can be generated for countries of the registry.';
  return report('NOT_REGISTERED', `The country is ${country}, which is not in the SWIFT registry; ${only}`);
}

export function describeRefusal(
  reason: RuleRefusal,
  rule: GermanIbanRule | null,
  format: CountryFormat,
): IbanFieldProblem {
  const messages: Readonly<Record<RuleRefusal, string>> = {
    NO_IBAN: `has no IBAN, by IBAN rule ${rule?.rule} of its bank.`,
    RULE_NOT_IMPLEMENTED: `has IBAN rule ${rule?.rule}, which is not implemented for this account; ask the bank for the IBAN.`,
    WRONG_CHECK_DIGITS: `has a check digit that does not match, by method ${rule?.checkMethod} of its bank.`,
  };
  const name = reason === 'RULE_NOT_IMPLEMENTED' ? 'bankCode' : 'accountNumber';
  const field = locateFields(format).find((candidate) => candidate.name === name);
  return {
    field: name,
    reason,
    length: field ? rangeOf(field) : null,
    message: `The ${nouns[name]} ${messages[reason]}`,
  };
}
