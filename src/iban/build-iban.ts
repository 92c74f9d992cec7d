import { describeFieldProblem } from './describe-field-problem.ts';
import { compactIban } from './iban.ts';
import { findCompletion, type IbanField, type IbanFieldName, ibanFieldNames, placeFields } from './iban-fields.ts';
import { calcCheckDigits } from './mod97.ts';
import { type CountryFormat, findCountryFormat } from './registry.ts';

/** What an IBAN is generated from; a field that the country does not have is left out, null or empty. */
export interface IbanFieldValues {
  country: string;
  bankCode?: string | null | undefined;
  branch?: string | null | undefined;
  accountNumber?: string | null | undefined;
}

/** What is wrong with one field. The message tells lengths and kinds of characters, and never the account number. */
export interface IbanFieldProblem {
  field: 'country' | IbanFieldName;
  message: string;
}

export type BuiltIban = { kind: 'iban'; iban: string } | { kind: 'invalid'; faults: readonly IbanFieldProblem[] };

/** The fields that a country or territory needs, by its code in capitals; none where there are no IBANs. */
export function ibanFields(country: string): readonly IbanField[] {
  const format = findCountryFormat(country);
  if (format === null) return [];
  return placeFields(format).map(({ name, length, characters, padded }) => ({ name, length, characters, padded }));
}

/**
 * A valid IBAN from its fields, however they are spelled, or every fault of theirs. National check digits are computed
 * where the rule is known and they stand apart from the fields; where not, the account number includes them (AL, BI,
 * FO, GL, SE, XK ...) or the bank code does (PL), and they are taken as given.
 */
export function buildIban(source: IbanFieldValues): BuiltIban {
  const country = compactIban(source.country);
  const format = findCountryFormat(country);
  if (format === null) return { kind: 'invalid', faults: [{ field: 'country', message: describeCountry(country) }] };

  const fields = placeFields(format);
  const faults: IbanFieldProblem[] = [];
  let bban = '0'.repeat(format.length - 4);
  for (const name of ibanFieldNames) {
    const given = compactIban(source[name] ?? '');
    const field = fields.find((candidate) => candidate.name === name);
    const message = describeFieldProblem({ name, field, given, country });
    if (message !== null) faults.push({ field: name, message });
    else if (field)
      bban = bban.slice(0, field.span.first - 1) + given.padStart(field.length, '0') + bban.slice(field.span.last);
  }
  return faults.length > 0 ? { kind: 'invalid', faults } : finish(format, bban);
}

function finish(format: CountryFormat, bban: string): BuiltIban {
  const complete = findCompletion(format);
  const whole = complete ? complete(bban) : bban;
  if (whole === null) {
    const message = `accountNumber is none that ${format.country} issues: it would need a check digit of 10.`;
    return { kind: 'invalid', faults: [{ field: 'accountNumber', message }] };
  }
  return { kind: 'iban', iban: format.country + calcCheckDigits(format.country, whole) + whole };
}

function describeCountry(country: string): string {
  if (country === '') return 'country is missing; a country code has 2 letters.';
  if (/^[A-Z]{2}$/.test(country)) return `country is ${country}, which has no IBANs.`;
  const characters = country.length === 1 ? 'character' : 'characters';
  return `country has ${country.length} ${characters}; a country code has 2 letters.`;
}
