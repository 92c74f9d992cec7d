import { z } from 'zod';
import type { ListedBank } from '../../../bank-lists/listed-bank.ts';
import { countryName } from '../../../countries/country-name.ts';
import { describeIbanProblem } from '../../../iban/describe-iban-problem.ts';
import { compactIban, findIbanProblems, type IbanParts, parseIban } from '../../../iban/iban.ts';
import { type CountryFormat, findCountryFormat } from '../../../iban/registry.ts';
import type { BankDirectory } from '../directory/bank-directory.ts';
import { type Answer, answer, complainOfText, type Query, readText, reject } from './answer.ts';

/** What is known about an IBAN, in the words of the wire. Absent parts are empty strings. */
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

export type IbanValidation = z.infer<typeof ibanValidationSchema>;

/**
 * Answers the query of `iban_validate`. An IBAN that comes apart is answered with its parts even if its check digits
 * are wrong; what does not come apart is rejected.
 */
export function answerIbanValidation(
  query: Query,
  { findBank }: Pick<BankDirectory, 'findBank'>,
): Answer<IbanValidation> {
  const text = readText(query, 'iban_number');
  const iban = compactIban(text ?? '');
  const complaint = complainOfText(text && iban, 'iban_number');
  if (complaint !== null) return reject({ iban_number: [complaint] });

  const sentences = findIbanProblems(iban).map((problem) => describeIbanProblem(problem, iban));
  const parts = parseIban(iban);
  const format = findCountryFormat(iban.slice(0, 2));
  if (parts === null || format === null) return reject({ iban_number: sentences });
  return answer({
    valid: sentences.length === 0,
    message: sentences.length === 0 ? 'IBAN number is valid.' : `IBAN number is not valid. ${sentences.join(' ')}`,
    iban,
    iban_data: shapeIbanData(parts, format),
    bank_data: shapeBankData(parts.bankCode, findBank(parts.countryCode, parts.bankCode)),
    country_iban_example: format.example,
  });
}

function shapeIbanData(parts: IbanParts, format: CountryFormat): IbanValidation['iban_data'] {
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

function shapeBankData(bankCode: string, bank: ListedBank | null): IbanValidation['bank_data'] {
  return {
    bank_code: bankCode,
    name: bank?.name ?? '',
    zip: bank?.zip ?? '',
    city: bank?.city ?? '',
    bic: bank?.bic ?? '',
  };
}
