import { describeFieldProblem } from './describe-field-problem.ts';
import { compactIban } from './iban.ts';
import {
  findCheckDigitCompletion,
  type IbanField,
  type IbanFieldName,
  ibanFieldNames,
  locateFields,
} from './iban-fields.ts';
import { calcCheckDigits } from './mod97.ts';
import { type CountryFormat, findCountryFormat } from './registry.ts';

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

/** The fields that a country or territory requires, by its code in capitals; empty if it has no IBANs. */
export function ibanFields(country: string): readonly IbanField[] {
  const format = findCountryFormat(country);
  if (format === null) return [];
  return locateFields(format).map(({ name, length, characters, padded }) => ({ name, length, characters, padded }));
}

/**
 * Builds a valid IBAN from its fields, or returns all their problems. Fields are compacted first. National check digits
 * are computed if their rule is known and they are separate from the fields. Otherwise they are expected in the account
 * number (AL, BI, FO, GL, SE, XK ...) or the bank code (PL).
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
