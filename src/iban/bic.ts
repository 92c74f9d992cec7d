import { countryCodes } from './country-codes.ts';
import { compactIban } from './iban.ts';

export type BicProblem = 'ILLEGAL_CHARACTERS' | 'WRONG_LENGTH' | 'UNKNOWN_COUNTRY';

interface BicParts {
  bic: string;
  /** The four characters of the institution; nearly always letters. */
  partyPrefix: string;
  /** ISO 3166-1 alpha-2, XK for Kosovo, or XE for TARGET. */
  countryCode: string;
  location: string;
  /** XXX, the head office, if the BIC has no branch. */
  branch: string;
  isHeadOffice: boolean;
  /** Whether the BIC is for testing only: its location ends in 0. */
  isTest: boolean;
}

/** Normalizes a BIC as `compactIban` does an IBAN. */
export function compactBic(text: string): string {
  return compactIban(text);
}

/**
 * The first problem of a compacted BIC; empty if it is valid by ISO 9362:2014, which allows digits in the party prefix.
 * A valid BIC need not have been issued.
 * @example
 * findBicProblems('COBADEFF') // => []
 * findBicProblems('') // => ['WRONG_LENGTH']
 */
export function findBicProblems(bic: string): readonly BicProblem[] {
  if (/[^A-Z0-9]/.test(bic)) return ['ILLEGAL_CHARACTERS'];
  if (bic.length !== 8 && bic.length !== 11) return ['WRONG_LENGTH'];
  const country = bic.slice(4, 6);
  return countryCodes.has(country) || country === target ? [] : ['UNKNOWN_COUNTRY'];
}

/**
 * Describes a problem of this compacted BIC in one sentence, which does not contain it.
 * @example
 * describeBicProblem('WRONG_LENGTH', '') // => 'A BIC has 8 or 11 characters; this one has 0.'
 */
export function describeBicProblem(problem: BicProblem, bic: string): string {
  switch (problem) {
    case 'ILLEGAL_CHARACTERS':
      return 'A BIC consists of the letters A to Z and the digits 0 to 9 only; this one does not.';
    case 'WRONG_LENGTH':
      return `A BIC has 8 or 11 characters; this one has ${bic.length}.`;
    case 'UNKNOWN_COUNTRY':
      return 'The fifth and sixth character of a BIC are a country code of ISO 3166-1; these are not.';
  }
}

/**
 * The parts of a compacted BIC; null if it is not valid.
 * @example
 * parseBic('COBADEFF').branch // => 'XXX'
 */
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

/**
 * A valid BIC with 11 characters: one without a branch is that of the head office.
 * @example
 * fullBic('COBADEFF') // => 'COBADEFFXXX'
 */
export function fullBic(bic: string): string {
  return bic.length === 8 ? `${bic}${headOffice}` : bic;
}

/** Whether a BIC is one of the bank that a bank code belongs to, as far as bank lists tell. */
export type BicMatch = 'SAME_BANK' | 'OTHER_BANK' | 'UNKNOWN';

/**
 * Compares a valid BIC with all BICs that lists give for a bank code. SAME_BANK if one has the same bank, country and location: the
 * branch does not matter. OTHER_BANK only if all are of other banks. Otherwise UNKNOWN: there are none, or one is of the same
 * bank elsewhere, in another location or country, which need not be wrong.
 * @param known compacted; empty if no list gives any
 * @example
 * matchBic('COBADEFF', ['COBADEFFXXX']) // => 'SAME_BANK'
 * matchBic('DEUTDEFF', ['COBADEFFXXX']) // => 'OTHER_BANK'
 * matchBic('COBADEHH', ['COBADEFFXXX']) // => 'UNKNOWN'
 */
export function matchBic(bic: string, known: readonly string[]): BicMatch {
  const isAlike = (length: number) => known.some((other) => other.slice(0, length) === bic.slice(0, length));
  if (isAlike(bankAndLocation)) return 'SAME_BANK';
  return known.length === 0 || isAlike(partyPrefix) ? 'UNKNOWN' : 'OTHER_BANK';
}

/** Four characters of the bank, two of the country, two of the location. */
const bankAndLocation = 8;
const partyPrefix = 4;

const headOffice = 'XXX';
/** In place of a country in the BICs of TARGET, the settlement system of the euro. */
const target = 'XE';
