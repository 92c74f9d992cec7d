import type { EssayMode, IbanProblem, NationalCheck, WritingPurpose } from '../gql/graphql.ts';

/* What the schema's names mean to whoever reads the page. Each is a whole table, so that a new name is missed at once. */

export const problemWords: Record<IbanProblem, string> = {
  CHECK_DIGITS_OUT_OF_RANGE: 'Its check digits are never issued.',
  ILLEGAL_CHARACTERS: 'It has characters other than letters and digits.',
  REJECTED_BY_SERVICE: 'The bank-data service does not accept it.',
  UNKNOWN_COUNTRY: 'It does not begin with a country that has IBANs.',
  WRONG_CHECK_DIGITS: 'Its check digits do not fit the rest: most likely a slip in typing.',
  WRONG_LENGTH: 'It is shorter or longer than the IBANs of its country.',
  WRONG_STRUCTURE: 'A letter stands where a digit belongs, or the other way round.',
};

export const nationalCheckWords: Record<NationalCheck, string> = {
  PASSED: 'The national check digits fit, too.',
  FAILED: 'The national check digits do not fit: better ask the payee.',
  NOT_APPLICABLE: 'There are no national check digits to check.',
};

export const modeWords: Record<EssayMode, string> = {
  STANDARD: 'Standard',
  ACADEMIC: 'Academic',
  PROFESSIONAL: 'Professional',
  NEWS_REPORT: 'News report',
};

export const purposeWords: Record<WritingPurpose, string> = {
  NARRATIVE: 'Tell what happened',
  ARGUMENTATIVE: 'Take a side',
  EXPOSITORY: 'Explain',
  DESCRIPTIVE: 'Describe',
};
