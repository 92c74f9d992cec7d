import * as z from 'zod';
import type { ListedBank } from '../../banks/listed-bank.ts';
import { compactBic, findBicProblems, parseBic } from '../../iban/bic.ts';
import { countryName } from '../../iban/country-name.ts';
import type { BankDirectory } from '../bank-directory.ts';
import { type Answer, answer, findTextProblem, type Query, readText, reject } from './answer.ts';

/** Where a record is from, which the hosted service does not return; fields are empty without a bank. */
export const originSchema = z.object({
  bic_source: z
    .string()
    .describe('NATIONAL_LIST, REGISTER, CURATED or CORRECTED. The hosted service does not return it.'),
  source: z.string().describe('The publisher of the record. The hosted service does not return it.'),
  date: z.string().describe('ISO date of the record. The hosted service does not return it.'),
  status: z.string().describe('LISTED, or DELETED for a closed bank. The hosted service does not return it.'),
  successor: z.string().describe('Bank code of the successor of a closed bank. The hosted service does not return it.'),
});

export function toOrigin(bank: ListedBank | null): z.infer<typeof originSchema> {
  const { bicSource = '', source = '', date = '', successor = '' }: Partial<ListedBank> = bank ?? {};
  const status = bank === null ? '' : bank.isDeleted ? 'DELETED' : 'LISTED';
  return { bic_source: bicSource, source, date, status, successor };
}

/** A bank as the service returns it; fields that the directory does not have are empty. */
export const swiftDataSchema = z.object({
  name: z.string(),
  address: z.string(),
  branch: z.string(),
  zip: z.string(),
  city: z.string(),
  country: z.string(),
  country_code: z.string(),
  swift: z.string(),
  bank_code: z.string(),
  ...originSchema.shape,
});

export const swiftCheckSchema = z.object({
  valid: z.literal(true),
  message: z.string(),
  bank_data: swiftDataSchema.describe('All fields are empty if no list contains the bank.'),
});

/** `swift_check`: rejects SWIFT codes that are not valid by ISO 9362. A valid one need not have been issued. */
export function answerSwiftCheck(
  query: Query,
  { findBankByBic }: BankDirectory,
): Answer<z.infer<typeof swiftCheckSchema>> {
  const text = readText(query, 'swift_code');
  const bic = compactBic(text ?? '');
  const [bicProblem] = findBicProblems(bic);
  const problem = findTextProblem(text, 'swift_code') ?? (bicProblem && messages[bicProblem]);
  if (problem !== undefined) return reject({ swift_code: [problem] });
  return answer({
    valid: true,
    message: parseBic(bic)?.isTest ? 'SWIFT code is valid, for testing only.' : 'SWIFT code is valid.',
    bank_data: toSwiftData(findBankByBic(bic)),
  });
}

const messages = {
  ILLEGAL_CHARACTERS: 'A SWIFT code consists of the letters A to Z and the digits 0 to 9 only.',
  WRONG_LENGTH: 'A SWIFT code has 8 or 11 characters; this one does not.',
  UNKNOWN_COUNTRY: 'The fifth and sixth characters of a SWIFT code must be a country code; here they are not.',
};

/** Without a bank, all fields are empty. */
export function toSwiftData(bank: ListedBank | null): z.infer<typeof swiftDataSchema> {
  const listed: Partial<ListedBank> = bank ?? {};
  const { country = '', bankCode = '', name = '', zip = '', city = '', bic = '' } = listed;
  return {
    name,
    address: '',
    branch: parseBic(bic)?.branch ?? '',
    zip,
    city,
    country: countryName(country) ?? '',
    country_code: country,
    swift: bic,
    bank_code: bankCode,
    ...toOrigin(bank),
  };
}
