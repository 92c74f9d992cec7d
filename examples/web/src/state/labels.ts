import type { EssayMode, IbanProblem, NationalCheck, WritingPurpose } from '../gql/graphql.ts';

/* Texts for the schema's enum values. The types require a text for every value. */

export const problemMessages: Record<IbanProblem, string> = {
  CHECK_DIGITS_OUT_OF_RANGE: 'Its check digits are never issued.',
  EMPTY: 'Enter an IBAN.',
  ILLEGAL_CHARACTERS: 'It has characters other than letters and digits.',
  NOT_REGISTERED: 'Its country is not in the SWIFT registry of IBANs: ask the payee for other account details.',
  REJECTED_BY_SERVICE: 'The bank-data service does not accept it.',
  TOO_LONG: 'It is too long for its country.',
  TOO_SHORT: 'It is too short for its country.',
  UNKNOWN_COUNTRY: 'It does not start with the code of a country that has IBANs.',
  WRONG_CHECK_DIGITS: 'Its check digits do not match: probably a typing error.',
  WRONG_STRUCTURE: 'It has a letter where a digit is required, or the reverse.',
};

export const nationalCheckMessages: Record<NationalCheck, string> = {
  PASSED: 'The national check digits match.',
  FAILED: 'The national check digits do not match: confirm the IBAN with the payee.',
  NOT_APPLICABLE: 'It has no national check digits that can be checked.',
};

export const modeLabels: Record<EssayMode, string> = {
  STANDARD: 'Standard',
  ACADEMIC: 'Academic',
  PROFESSIONAL: 'Professional',
  NEWS_REPORT: 'News report',
  DETAILED: 'Detailed',
};

export const purposeLabels: Record<WritingPurpose, string> = {
  NARRATIVE: 'Narrate events',
  ARGUMENTATIVE: 'Take a side',
  EXPOSITORY: 'Explain',
  DESCRIPTIVE: 'Describe',
};

/** With seconds, by which orders with the same topic differ. */
export const timeFormat = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });
