import { countryCodes } from '../countries/country-codes.ts';
import { compactIban } from './iban.ts';

/** Everything that can be wrong with a BIC; at most one of them is reported, as each hides what comes after it. */
export const bicProblems = ['ILLEGAL_CHARACTERS', 'WRONG_LENGTH', 'UNKNOWN_COUNTRY'] as const;

export type BicProblem = (typeof bicProblems)[number];

/** A BIC, part by part. */
export interface BicParts {
  bic: string;
  /** The four characters that stand for the institution; letters in nearly all cases. */
  partyPrefix: string;
  /** ISO 3166-1 alpha-2, or XK for Kosovo. */
  countryCode: string;
  location: string;
  /** XXX where the BIC names none: that is the head office. */
  branch: string;
  isHeadOffice: boolean;
  /** A BIC for testing, which no payment reaches: its location ends in 0. */
  isTest: boolean;
}

/** The one spelling of a BIC: as of an IBAN, capitals without spaces, dashes and what cannot be seen. */
export function compactBic(text: string): string {
  return compactIban(text);
}

/**
 * What is wrong with a compacted BIC by the rules of ISO 9362:2014, which allows digits in the party prefix; empty
 * when nothing is. Whether such a BIC was ever issued is another question.
 */
export function findBicProblems(bic: string): readonly BicProblem[] {
  if (/[^A-Z0-9]/.test(bic)) return ['ILLEGAL_CHARACTERS'];
  if (bic.length !== 8 && bic.length !== 11) return ['WRONG_LENGTH'];
  return countryCodes.has(bic.slice(4, 6)) ? [] : ['UNKNOWN_COUNTRY'];
}

/** The parts of a compacted BIC; null where it is not valid. */
export function parseBic(bic: string): BicParts | null {
  if (findBicProblems(bic).length > 0) return null;
  const location = bic.slice(6, 8);
  const branch = bic.slice(8) || headOffice;
  return {
    bic,
    partyPrefix: bic.slice(0, 4),
    countryCode: bic.slice(4, 6),
    location,
    branch,
    isHeadOffice: branch === headOffice,
    isTest: location.endsWith('0'),
  };
}

const headOffice = 'XXX';
