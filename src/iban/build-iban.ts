import { applyGermanRule, type GermanIbanRule } from './german-iban-rules.ts';
import { compactIban } from './iban.ts';
import {
  countryLength,
  describeRefusal,
  describeWrongDigits,
  findAdjacentDigits,
  findComputedDigits,
  findCountryProblem,
  findFieldProblem,
  type IbanFieldName,
  type IbanFieldProblem,
  ibanFieldNames,
  lengthOf,
  locateAccountNumber,
  locateFields,
  paddedBranches,
} from './iban-fields.ts';
import { calcCheckDigits } from './mod97.ts';
import { type CheckDigits, findNationalCheck, findWrongCheckDigits } from './national-checks.ts';
import { type CountryFormat, findCountryFormat, type Span } from './registry.ts';

/** The fields to generate an IBAN from; a field that the country does not have is absent, null or empty. */
export interface IbanFieldValues {
  country: string;
  bankCode?: string | null | undefined;
  branch?: string | null | undefined;
  accountNumber?: string | null | undefined;
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

function replace(bban: string, { first, last }: Span, text: string): string {
  return bban.slice(0, first - 1) + text + bban.slice(last);
}
