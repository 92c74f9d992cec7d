import * as z from 'zod';
import { compactBic, findBicProblems, parseBic } from '../../../iban/bic.ts';
import type { BankDirectory } from '../directory/bank-directory.ts';
import { type Answer, answer, findTextProblem, type Query, readText, reject } from './answer.ts';
import { swiftDataSchema, toSwiftData } from './swift-data.ts';

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
