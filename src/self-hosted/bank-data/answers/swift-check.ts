import { z } from 'zod';
import { compactBic, findBicProblems, parseBic } from '../../../iban/bic.ts';
import type { BankDirectory } from '../directory/bank-directory.ts';
import { type Answer, answer, complainOfText, type Query, readText, reject } from './answer.ts';
import { noBank, shapeSwiftData, swiftDataSchema } from './swift-data.ts';

export const swiftCheckSchema = z.object({
  valid: z.literal(true),
  message: z.string(),
  bank_data: swiftDataSchema.describe('All empty where no list has the bank.'),
});

export type SwiftCheck = z.infer<typeof swiftCheckSchema>;

/** Answers the query of `swift_check`. What is no BIC by ISO 9362 is rejected; whether a valid one was issued is not told. */
export function answerSwiftCheck(query: Query, { findBankByBic }: BankDirectory): Answer<SwiftCheck> {
  const text = readText(query, 'swift_code');
  const complaint = complainOfText(text, 'swift_code');
  if (text === null || complaint !== null) return reject({ swift_code: [complaint ?? ''] });

  const bic = compactBic(text);
  const [problem] = findBicProblems(bic);
  if (problem !== undefined) return reject({ swift_code: [sentences[problem]] });
  const bank = findBankByBic(bic);
  return answer({
    valid: true,
    message: parseBic(bic)?.isTest ? 'SWIFT code is valid, for testing only.' : 'SWIFT code is valid.',
    bank_data: bank ? shapeSwiftData(bank) : noBank,
  });
}

const sentences = {
  ILLEGAL_CHARACTERS: 'A SWIFT code consists of the letters A to Z and the digits 0 to 9 only.',
  WRONG_LENGTH: 'A SWIFT code has 8 or 11 characters; this one has not.',
  UNKNOWN_COUNTRY: 'The fifth and sixth characters of a SWIFT code are a country code; here they are not.',
};
