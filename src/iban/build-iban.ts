import { compactIban } from './iban.ts';
import { calcCheckDigits } from './mod97.ts';
import { findNationalCheck, type NationalCheck } from './national-checks.ts';
import { type CountryFormat, findCountryFormat, type Span } from './registry.ts';

const ibanFieldNames = ['bankCode', 'branch', 'accountNumber'] as const;

export type IbanFieldName = (typeof ibanFieldNames)[number];

/** A part of the BBAN that is required to generate an IBAN. */
export interface IbanField {
  name: IbanFieldName;
  length: number;
  characters: 'digits' | 'letters' | 'letters and digits';
  /** Whether a shorter value is filled up with zeros on the left. */
  padded: boolean;
}

/** The fields to generate an IBAN from; a field that the country does not have is absent, null or empty. */
export interface IbanFieldValues {
  country: string;
  bankCode?: string | null | undefined;
  branch?: string | null | undefined;
  accountNumber?: string | null | undefined;
}

/** A problem of one field. The message contains lengths and character types, but never the account number. */
export interface IbanFieldProblem {
  field: 'country' | IbanFieldName;
  message: string;
}

type BuiltIban = { kind: 'iban'; iban: string } | { kind: 'invalid'; problems: readonly IbanFieldProblem[] };

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

/**
 * Builds a valid IBAN from its fields, or returns all their problems. Fields are compacted first. National check digits
 * are computed if their rule is known and they are separate from the fields. Otherwise they are expected in the account
 * number (AL, BI, FO, GL, SE, XK ...) or the bank code (PL).
 * @example
 * buildIban({ country: 'DE', bankCode: '37040044', accountNumber: '532013000' }) // => { kind: 'iban', iban: 'DE89370400440532013000' }
 * buildIban({ country: 'DE', bankCode: '37040044' }).problems[0].field // => 'accountNumber'
 */
export function buildIban(values: IbanFieldValues): BuiltIban {
  const country = compactIban(values.country);
  const format = findCountryFormat(country);
  if (format === null) return invalid([{ field: 'country', message: describeCountryProblem(country) }]);

  const fields = locateFields(format);
  const problems: IbanFieldProblem[] = [];
  let bban = '0'.repeat(format.length - 4);
  for (const name of ibanFieldNames) {
    const value = compactIban(values[name] ?? '');
    const field = fields.find((candidate) => candidate.name === name);
    const message = describeFieldProblem({ name, field, value, country });
    if (message !== null) problems.push({ field: name, message });
    else if (field)
      bban = bban.slice(0, field.span.first - 1) + value.padStart(field.length, '0') + bban.slice(field.span.last);
  }
  return problems.length > 0 ? invalid(problems) : completeIban(format, bban);
}

function completeIban(format: CountryFormat, bban: string): BuiltIban {
  const complete = findCheckDigitCompletion(format);
  const whole = complete ? complete(bban) : bban;
  if (whole === null) {
    const message = `accountNumber cannot exist in ${format.country}: its check digit would be 10.`;
    return invalid([{ field: 'accountNumber', message }]);
  }
  return { kind: 'iban', iban: format.country + calcCheckDigits(format.country, whole) + whole };
}

function invalid(problems: readonly IbanFieldProblem[]): BuiltIban {
  return { kind: 'invalid', problems };
}

function describeCountryProblem(country: string): string {
  if (country === '') return 'country is missing; a country code has 2 letters.';
  if (/^[A-Z]{2}$/.test(country)) return `country is ${country}, which has no IBANs.`;
  const characters = country.length === 1 ? 'character' : 'characters';
  return `country has ${country.length} ${characters}; a country code has 2 letters.`;
}

/** A field with its position in the BBAN. */
interface LocatedField extends IbanField {
  span: Span;
  /** The type of each character: n for a digit, a for a letter, c for either. */
  types: string;
}

/**
 * The fields of a country in the order of the BBAN. The account number does not include national check digits that can
 * be computed. It includes all others: before the number (AL), after it (BI, FO, GL, SE), or within it if the registry
 * does not separate them (CZ, HR, HU's first digit, NL, XK). It also includes the type of account and its holder (BR).
 */
export function locateFields(format: CountryFormat): readonly LocatedField[] {
  const bbanTypes = [...format.format.slice('DE2!n'.length).matchAll(/(\d+)!([nac])/g)]
    .map(([, count, type = '']) => type.repeat(Number(count)))
    .join('');
  const locate = (name: IbanFieldName, span: Span): LocatedField => {
    const types = bbanTypes.slice(span.first - 1, span.last);
    const characters = nameCharacters(types);
    return { name, length: types.length, characters, padded: isPadded(name, format), span, types };
  };
  return [
    locate('bankCode', format.bankCode),
    ...(format.branch ? [locate('branch', format.branch)] : []),
    locate('accountNumber', locateAccountNumber(format)),
  ];
}

/** Computes the national check digits of a BBAN; null if the fields already include them or there are none. */
function findCheckDigitCompletion(format: CountryFormat): NationalCheck['complete'] | null {
  return format.nationalCheckDigits && (findNationalCheck(format.country)?.complete ?? null);
}

/** Their branch is the account prefix, which is written without leading zeros. */
const paddedBranches: ReadonlySet<string> = new Set(['CZ', 'SK']);

/**
 * Countries whose account numbers must be complete. Zeros on the left would displace the leading characters (AL, HU: a
 * check digit; BG, BY, GT, IS, RU: the type of account), belong in the middle (FI), or would hide a mistake: that the
 * check digit was entered as part of the number, as is usual (BE, EE, NO), or that a digit of a number of fixed length
 * is missing (PL).
 */
const completeAccounts: ReadonlySet<string> = new Set('AL BE BG BY EE FI GT HU IS NO PL RU'.split(' '));

function isPadded(name: IbanFieldName, { country, parent }: CountryFormat): boolean {
  const owner = parent ?? country;
  if (name === 'bankCode') return false;
  return name === 'branch' ? paddedBranches.has(owner) : !completeAccounts.has(owner);
}

/** From bank code and branch to the end, without computed check digits before (ES) or after it (FR). */
function locateAccountNumber(format: CountryFormat): Span {
  const [first, last] = [(format.branch ?? format.bankCode).last + 1, format.length - 4];
  const computed = findCheckDigitCompletion(format) ? format.nationalCheckDigits : null;
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
  country: string;
}

/**
 * Describes the problem of a field in one sentence; null if there is none. The sentence contains lengths and character
 * types, but never the value, which may be personal data.
 */
function describeFieldProblem({ name, field, value, country }: GivenField): string | null {
  const has = `${name} has ${count(value.length, 'character')}`;
  if (field === undefined) return value === '' ? null : `${has}; an IBAN of ${country} has no ${nouns[name]}.`;

  const expected = `${name === 'accountNumber' ? 'an' : 'a'} ${nouns[name]} of ${country} has ${describeExpected(field)}.`;
  if (value === '') return `${name} is missing; ${expected}`;
  const isRightLength = value.length === field.length || (field.padded && value.length < field.length);
  const misplaced = findMisplacedTypes(field, value, isRightLength);
  if (misplaced.length > 0) return `${has}, with ${join(misplaced)} where they are not allowed; ${expected}`;
  return isRightLength ? null : `${has}; ${expected}`;
}

const nouns: Readonly<Record<IbanFieldName, string>> = {
  bankCode: 'bank code',
  branch: 'branch',
  accountNumber: 'account number',
};

/** 8 digits; up to 10 digits; 4 letters and 2 digits. */
function describeExpected({ types, padded }: LocatedField): string {
  const runs = (types.match(/n+|a+|c+/g) ?? []).map((run) => {
    if (run.startsWith('n')) return count(run.length, 'digit');
    const letters = count(run.length, 'letter');
    if (run.startsWith('a')) return letters;
    return run.length === 1 ? `${letters} or digit` : `${letters} or digits`;
  });
  return (padded ? 'up to ' : '') + join(runs);
}

/** The types of characters that are not allowed at their position or, at a wrong length, nowhere in the field. */
function findMisplacedTypes({ types, length }: LocatedField, value: string, isRightLength: boolean): readonly string[] {
  const aligned = types.slice(length - value.length);
  const misplaced = [...value].filter((character, index) =>
    isRightLength ? !fits(character, aligned[index]) : ![...types].some((type) => fits(character, type)),
  );
  return [...new Set(misplaced.map(nameType))].sort();
}

function fits(character: string, type: string | undefined): boolean {
  if (type === 'n') return isDigit(character);
  return type === 'a' ? isLetter(character) : isDigit(character) || isLetter(character);
}

function nameType(character: string): string {
  if (isDigit(character)) return 'digits';
  return isLetter(character) ? 'letters' : 'characters other than letters and digits';
}

function isDigit(character: string): boolean {
  return /^[0-9]$/.test(character);
}

function isLetter(character: string): boolean {
  return /^[A-Z]$/.test(character);
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function join(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
