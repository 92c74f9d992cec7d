import { applyGermanRule, type GermanIbanRule, type RuleRefusal } from './german-iban-rules.ts';
import { compactIban } from './iban.ts';
import { calcCheckDigits } from './mod97.ts';
import { type CheckDigits, findNationalCheck, findWrongCheckDigits } from './national-checks.ts';
import {
  type CountryFormat,
  characterTypes,
  findCountryFormat,
  findUnregisteredFormat,
  type Span,
} from './registry.ts';

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
interface LengthRange {
  min: number;
  max: number;
}

type BuiltIban =
  | {
      kind: 'iban';
      iban: string;
      rule: IbanRuleState;
      /**
       * As a bank-data service expects them: the account number without the check digits that it computes itself. Null if the rule of
       * the bank replaced them: a service must not apply it again.
       */
      fields: Readonly<Record<IbanFieldName, string>> | null;
    }
  | {
      kind: 'invalid';
      problems: readonly IbanFieldProblem[];
      /** The IBAN of the parent, if the only problem is that the country is a territory. */
      suggestions: readonly string[];
    };

/** Whether a German bank has a rule for the IBANs of its accounts; NONE in other countries. */
export const ibanRuleStates = ['NONE', 'APPLIED', 'UNKNOWN'] as const;
export type IbanRuleState = (typeof ibanRuleStates)[number];

/** The rule of a German bank code; null if it is not known whether it has one. */
export type FindGermanRule = (bankCode: string) => GermanIbanRule | null;

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
 * are computed if their rule is known and they are separate from the fields; an account number may also include those next to
 * it, or be the whole BBAN in place of all fields. Otherwise they are expected in the account number (FO, GL, SE, XK ...) or the
 * bank code (PL). Check digits in a field must match, unless the rule does not cover the account. The IBAN rule of a German bank
 * is applied. Territories have no IBANs of their own: their banks use those of the parent, which is suggested.
 * @example
 * buildIban({ country: 'DE', bankCode: '37040044', accountNumber: '532013000' }).iban // => 'DE89370400440532013000'
 * buildIban({ country: 'NO', accountNumber: '8601.11.17947' }).iban // => 'NO9386011117947'
 * buildIban({ country: 'DE', bankCode: '37040044' }).problems[0].field // => 'accountNumber'
 */
export function buildIban(values: IbanFieldValues, findGermanRule: FindGermanRule = () => null): BuiltIban {
  const country = compactIban(values.country);
  const format = findCountryFormat(country);
  if (format === null) return invalid([findCountryProblem(country)]);
  if (format.parent !== null) return suggestParent(format.parent, { ...values, country });

  const given = splitAccountNumber(values, format);
  const fields = locateFields(format);
  const problems: IbanFieldProblem[] = [];
  let bban = '0'.repeat(format.length - 4);
  for (const name of ibanFieldNames) {
    const field = fields.find((candidate) => candidate.name === name);
    const problem = findFieldProblem({ name, field, value: given[name], format });
    if (problem !== null) problems.push(problem);
    else if (field) bban = replace(bban, field.span, given[name].padStart(field.length, '0'));
  }
  if (problems.length > 0) return invalid(problems);
  return country === 'DE' ? buildGermanIban(format, given, findGermanRule) : completeIban(format, given, bban);
}

/** The problem of a territory with those of all other fields or, if they have none, with the IBAN of the parent. */
function suggestParent(parent: string, values: IbanFieldValues): BuiltIban {
  const message = `The country is ${values.country}, whose banks use IBANs of ${parent}; use ${parent}.`;
  const problem: IbanFieldProblem = { field: 'country', reason: 'TERRITORY', length: countryLength, message };
  const built = buildIban({ ...values, country: parent });
  const { problems, suggestions } = built.kind === 'iban' ? { problems: [], suggestions: [built.iban] } : built;
  return { kind: 'invalid', problems: [problem, ...problems], suggestions };
}

/** The fields as they are given, compacted; empty if missing. */
interface GivenTexts extends Record<IbanFieldName, string> {
  /** Those that are computed, if the account number includes them; empty otherwise. */
  checkDigits: string;
}

/**
 * Splits an account number that includes the computed check digits next to it, with or without bank code and branch in front:
 * 007547034 and 539007547034 for the bank code 539 (BE), or without zeros, but with a separator: 742221843-57 (RS). Without bank code
 * and branch, it may be the whole BBAN.
 */
function splitAccountNumber(values: IbanFieldValues, format: CountryFormat): GivenTexts {
  const bankCode = compactIban(values.bankCode ?? '');
  const branch = compactIban(values.branch ?? '');
  // Norwegians and the Dutch write it with points.
  const text = compactIban(values.accountNumber ?? '').replaceAll('.', '');
  if (bankCode === '' && branch === '' && format.regex.test(`${format.country}00${text}`))
    return splitBban(text, format);
  const account = locateAccountNumber(format);
  const computed = findAdjacentDigits(format);
  const whole = { bankCode, branch, accountNumber: text, checkDigits: '' };
  if (computed === null)
    return paddedBranches.has(format.country) ? splitPrefix(whole, values.accountNumber ?? '') : whole;

  const size = lengthOf(computed);
  const length = lengthOf(account) + size;
  const hasBank = text.length === bankCode.length + branch.length + length && text.startsWith(bankCode + branch);
  const complete = hasBank ? text.slice(-length) : text;
  if (complete.length !== length) return splitAtSeparator(whole, values.accountNumber ?? '', computed, account);
  const [checkDigits, accountNumber] =
    computed.first < account.first
      ? [complete.slice(0, size), complete.slice(size)]
      : [complete.slice(-size), complete.slice(0, -size)];
  return /^\d+$/.test(checkDigits) ? { ...whole, accountNumber, checkDigits } : whole;
}

/** Takes what is before a hyphen (CZ, SK) for the branch: 19-2000145399. It keeps the hyphen, and is refused, if there is another branch. */
function splitPrefix(whole: GivenTexts, written: string): GivenTexts {
  const [, prefix = '', accountNumber = ''] = /^\s*(\d+)\s*\p{Dash_Punctuation}\s*(\d+)\s*$/u.exec(written) ?? [];
  if (accountNumber === '') return whole;
  const isSame = whole.branch === '' || Number(whole.branch) === Number(prefix);
  return isSame ? { ...whole, branch: prefix, accountNumber } : { ...whole, accountNumber: written };
}

/**
 * Takes a group of digits at the end, or at the beginning (ES), for the computed check digits: it must match, or there is no IBAN. Only
 * a complete account number may be in groups of other lengths.
 */
function splitAtSeparator(whole: GivenTexts, written: string, computed: CheckDigits, account: Span): GivenTexts {
  const [first = '', ...others] = written.trim().split(/([\s.\p{Dash_Punctuation}]+)/u);
  const groups = [first, ...others.filter((_, index) => index % 2 === 1)].map(compactIban);
  const bank = [whole.bankCode, whole.branch].filter((code) => code !== '');
  const hasBank = bank.length > 0 && bank.every((code, index) => groups[index] === code);
  const numbers = hasBank ? groups.slice(bank.length) : groups;
  const isFirst = computed.first < account.first;
  const digits = (isFirst ? numbers[0] : numbers.at(-1)) ?? '';
  const accountNumber = (isFirst ? numbers.slice(1) : numbers.slice(0, -1)).join('');
  const size = lengthOf(computed);
  const separator = (isFirst ? others[2 * (groups.length - numbers.length)] : others.at(-2)) ?? '';
  const isApart =
    digits.length === size ||
    /\p{Dash_Punctuation}/u.test(separator) ||
    accountNumber.length + digits.length < lengthOf(account);
  if (numbers.length < 2 || digits.length > size || !/^\d+$/.test(digits) || !isApart) return whole;
  return { ...whole, accountNumber, checkDigits: digits.padStart(size, '0') };
}

function splitBban(bban: string, format: CountryFormat): GivenTexts {
  const take = (span: Span | null) => (span ? bban.slice(span.first - 1, span.last) : '');
  return {
    bankCode: take(format.bankCode),
    branch: take(format.branch),
    accountNumber: take(locateAccountNumber(format)),
    checkDigits: take(findComputedDigits(format)),
  };
}

/** The IBAN by the rule of the bank. */
function buildGermanIban(format: CountryFormat, given: GivenTexts, findRule: FindGermanRule): BuiltIban {
  const asGiven = { bankCode: given.bankCode, accountNumber: given.accountNumber.padStart(10, '0') };
  const found = findRule(given.bankCode);
  const account = found === null ? asGiven : applyGermanRule(found, asGiven);
  if (typeof account === 'string') return invalid([describeRefusal(account, found, format)]);
  const { bankCode, accountNumber } = account;
  const built = completeIban(format, given, bankCode + accountNumber);
  if (built.kind === 'invalid') return built;
  const isReplaced = bankCode !== asGiven.bankCode || accountNumber !== asGiven.accountNumber;
  const rule = found === null ? 'UNKNOWN' : found.rule === '000000' ? 'NONE' : 'APPLIED';
  return { ...built, rule, fields: isReplaced ? null : built.fields };
}

function describeRefusal(reason: RuleRefusal, rule: GermanIbanRule | null, format: CountryFormat): IbanFieldProblem {
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

/** Adds the computed check digits to a BBAN, and checks all others. */
function completeIban(format: CountryFormat, given: GivenTexts, fieldsOfBban: string): BuiltIban {
  const { country } = format;
  const computed = findComputedDigits(format);
  const right = computed ? computed.calc(fieldsOfBban) : '';
  const digits = given.checkDigits || right;
  const bban = computed && digits ? replace(fieldsOfBban, computed, digits) : fieldsOfBban;

  const check = findNationalCheck(country);
  const isCovered = check?.covers?.(bban) ?? true;
  const wrong = check && (isCovered || digits === null) ? findWrongCheckDigits(check, bban) : [];
  const problems = wrong.map((group) => describeWrongDigits(group, group.calc(bban), format));
  if (problems.length > 0) return invalid(problems);
  // Where the rule does not cover the account (NO, RS), digits that differ from the computed ones remain, after a complete number.
  const { first, last } = locateAccountNumber(format);
  const accountNumber = digits === right ? given.accountNumber : bban.slice(first - 1, last) + digits;
  const { bankCode, branch } = given;
  const iban = country + calcCheckDigits(country, bban) + bban;
  return { kind: 'iban', iban, rule: 'NONE', fields: { bankCode, branch, accountNumber } };
}

function invalid(problems: readonly IbanFieldProblem[]): Extract<BuiltIban, { kind: 'invalid' }> {
  return { kind: 'invalid', problems, suggestions: [] };
}

const countryLength: LengthRange = { min: 2, max: 2 };

function findCountryProblem(country: string): IbanFieldProblem {
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
function locateFields(format: CountryFormat): readonly LocatedField[] {
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
function findComputedDigits({ country, nationalCheckDigits, bankCode }: CountryFormat): CheckDigits | null {
  const groups = findNationalCheck(country)?.groups ?? [];
  const separate = groups.find(
    ({ first, last }) => first === nationalCheckDigits?.first && last === nationalCheckDigits.last,
  );
  return separate && !contains(bankCode, separate) ? separate : null;
}

/** The computed check digits that are next to the account number; null for the letter of IT and SM. */
function findAdjacentDigits(format: CountryFormat): CheckDigits | null {
  const { first, last } = locateAccountNumber(format);
  const computed = findComputedDigits(format);
  return computed?.last === first - 1 || computed?.first === last + 1 ? computed : null;
}

/** Their branch is the account prefix, which is written without leading zeros. */
const paddedBranches: ReadonlySet<string> = new Set(['CZ', 'SK']);

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
function locateAccountNumber(format: CountryFormat): Span {
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
function findFieldProblem({ name, field, value, format }: GivenField): IbanFieldProblem | null {
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
function describeWrongDigits(group: CheckDigits, right: string | null, format: CountryFormat): IbanFieldProblem {
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

function lengthOf({ first, last }: Span): number {
  return last - first + 1;
}

function replace(bban: string, { first, last }: Span, text: string): string {
  return bban.slice(0, first - 1) + text + bban.slice(last);
}

function describeCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

function join(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
