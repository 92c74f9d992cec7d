import { describeProblem } from '../../iban/describe-problem.ts';
import { compactIban, type IbanParts, takeApart, validateIban } from '../../iban/iban.ts';
import { type CountryFormat, findCountryFormat } from '../../iban/registry.ts';
import { countryName } from './country-name.ts';
import type { Bank, BankDirectory } from './directory.ts';

/** The answer to a question about one IBAN, in the words of the wire. Absent parts are empty strings. */
export interface IbanValidation {
  valid: boolean;
  message: string;
  iban: string;
  iban_data: {
    country: string;
    country_code: string;
    sepa_country: boolean;
    checksum: string;
    BBAN: string;
    bank_code: string;
    account_number: string;
    branch: string;
    national_checksum: string;
    country_iban_format_as_swift: string;
    country_iban_format_as_regex: string;
  };
  bank_data: { bank_code: string; name: string; zip: string; city: string; bic: string };
  country_iban_example: string;
}

/** Why there is nothing to say about what was sent. */
export interface IbanRejection {
  message: string;
  errors: { iban_number: readonly string[] };
}

export type IbanAnswer = { status: 200; body: IbanValidation } | { status: 422; body: IbanRejection };

/**
 * Answers the query parameter `iban_number`, which is a list where it was repeated. An IBAN that comes apart is
 * answered with its parts even if its check digits are wrong; what does not come apart is rejected.
 */
export function answerIbanValidation(ibanNumber: unknown, { findBank }: BankDirectory): IbanAnswer {
  if (Array.isArray(ibanNumber)) return reject(['iban_number must be given only once.']);
  const iban = typeof ibanNumber === 'string' ? compactIban(ibanNumber) : '';
  if (iban === '') return reject(['iban_number is missing.']);

  const sentences = validateIban(iban).map((problem) => describeProblem(problem, iban));
  const parts = takeApart(iban);
  const format = findCountryFormat(iban.slice(0, 2));
  if (parts === null || format === null) return reject(sentences);
  return {
    status: 200,
    body: {
      valid: sentences.length === 0,
      message: sentences.length === 0 ? 'IBAN number is valid.' : `IBAN number is not valid. ${sentences.join(' ')}`,
      iban,
      iban_data: shapeIbanData(parts, format),
      bank_data: shapeBankData(parts.bankCode, findBank(parts.countryCode, parts.bankCode)),
      country_iban_example: format.example,
    },
  };
}

function reject(sentences: readonly string[]): IbanAnswer {
  return { status: 422, body: { message: sentences.join(' '), errors: { iban_number: sentences } } };
}

function shapeIbanData(parts: IbanParts, format: CountryFormat): IbanValidation['iban_data'] {
  return {
    country: countryName(parts.countryCode),
    country_code: parts.countryCode,
    sepa_country: format.sepa,
    checksum: parts.checkDigits,
    BBAN: parts.bban,
    bank_code: parts.bankCode,
    account_number: parts.bbanRemainder,
    branch: parts.branch ?? '',
    national_checksum: parts.nationalCheckDigits ?? '',
    country_iban_format_as_swift: format.format,
    country_iban_format_as_regex: format.regex.source,
  };
}

function shapeBankData(bankCode: string, bank: Bank | null): IbanValidation['bank_data'] {
  return {
    bank_code: bankCode,
    name: bank?.name ?? '',
    zip: bank?.zip ?? '',
    city: bank?.city ?? '',
    bic: bank?.bic ?? '',
  };
}
