import * as z from 'zod';
import type { ListedBank } from '../../../bank-lists/listed-bank.ts';
import { countryName } from '../../../countries/country-name.ts';
import { compactIban, describeIbanProblem, findIbanProblems, type IbanParts, parseIban } from '../../../iban/iban.ts';
import { type CountryFormat, findCountryFormat } from '../../../iban/registry.ts';
import type { BankDirectory } from '../directory/bank-directory.ts';
import { type Answer, answer, findTextProblem, type Query, readText, reject } from './answer.ts';

/** The result for an IBAN. Absent parts are empty strings. */
export const ibanValidationSchema = z.object({
  valid: z.boolean(),
  message: z.string(),
  iban: z.string(),
  iban_data: z.object({
    country: z.string(),
    country_code: z.string(),
    sepa_country: z.boolean(),
    checksum: z.string(),
    BBAN: z.string(),
    bank_code: z.string(),
    account_number: z.string(),
    branch: z.string(),
    national_checksum: z.string(),
    country_iban_format_as_swift: z.string(),
    country_iban_format_as_regex: z.string(),
  }),
  bank_data: z.object({
    bank_code: z.string(),
    name: z.string(),
    zip: z.string(),
    city: z.string(),
    bic: z.string(),
  }),
  country_iban_example: z.string(),
});

export type IbanValidationBody = z.infer<typeof ibanValidationSchema>;

/**
 * `iban_validate`: an IBAN with the right structure is answered with its parts even if its check digits are wrong;
 * others are rejected.
 */
export function answerIbanValidation(
  query: Query,
  { findBank }: Pick<BankDirectory, 'findBank'>,
): Answer<IbanValidationBody> {
  const text = readText(query, 'iban_number');
  const iban = compactIban(text ?? '');
  const problem = findTextProblem(text && iban, 'iban_number');
  if (problem !== null) return reject({ iban_number: [problem] });

  const messages = findIbanProblems(iban).map((ibanProblem) => describeIbanProblem(ibanProblem, iban));
  const parts = parseIban(iban);
  const format = findCountryFormat(iban.slice(0, 2));
  if (parts === null || format === null) return reject({ iban_number: messages });
  return answer({
    valid: messages.length === 0,
    message: messages.length === 0 ? 'IBAN number is valid.' : `IBAN number is not valid. ${messages.join(' ')}`,
    iban,
    iban_data: toIbanData(parts, format),
    bank_data: toBankData(parts.bankCode, findBank(parts.countryCode, parts.bankCode)),
    country_iban_example: format.example,
  });
}

function toIbanData(parts: IbanParts, format: CountryFormat): IbanValidationBody['iban_data'] {
  return {
    country: countryName(parts.countryCode) ?? '',
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

function toBankData(bankCode: string, bank: ListedBank | null): IbanValidationBody['bank_data'] {
  return {
    bank_code: bankCode,
    name: bank?.name ?? '',
    zip: bank?.zip ?? '',
    city: bank?.city ?? '',
    bic: bank?.bic ?? '',
  };
}
