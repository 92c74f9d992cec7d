import { createCheckDigitArithmetic } from './check-digit-arithmetic.ts';
import { applyEdit, listEdits, rankEdit } from './edits.ts';
import { isValidIban, parseIban } from './iban.ts';
import { findCountryFormat } from './registry.ts';

interface SuggestOptions {
  /** Whether a bank list has this bank code in this country; IBANs of known banks come first. */
  isKnownBank?: (country: string, bankCode: string) => boolean;
  /** Maximum number of IBANs. */
  limit?: number;
}

/**
 * Suggests valid IBANs for an invalid compacted text with one typo: a wrong, missing or extra character, or swapped
 * neighbours. Known banks come first, then the more likely typo. Empty for a valid IBAN and for a text with more typos.
 */
export function suggestIbans(
  text: string,
  { isKnownBank = () => false, limit = 5 }: SuggestOptions = {},
): readonly string[] {
  if (hasSeveralTypos(text) || isValidIban(text)) return [];
  return [...findCorrections(text)]
    .map(([iban, rank]) => {
      const parts = parseIban(iban);
      return { iban, rank, isKnown: parts !== null && isKnownBank(parts.countryCode, parts.bankCode) };
    })
    .sort((one, other) => Number(other.isKnown) - Number(one.isKnown) || one.rank - other.rank)
    .slice(0, limit)
    .map(({ iban }) => iban);
}

/** ISO 13616. */
const maxLength = 34;
const countryCodeLength = 2;

/** One typo adds or damages at most one character. */
function hasSeveralTypos(text: string): boolean {
  return text.length > maxLength + 1 || text.replace(/[A-Z0-9]+/g, '').length > 1;
}

/** All valid IBANs one edit away, with the rank of the likeliest edit. */
function findCorrections(text: string): ReadonlyMap<string, number> {
  const length = findCountryFormat(text.slice(0, 2))?.length;
  // An edit of the country code leads to another country, and so to another length.
  const mayGrow = (growth: number, at: number) => at < countryCodeLength || text.length + growth === length;

  const ranks = new Map<string, number>();
  for (const edit of listEdits(text, { mayGrow, ...createCheckDigitArithmetic(text) })) {
    const iban = applyEdit(text, edit);
    if (findCountryFormat(iban.slice(0, 2))?.length !== iban.length || !isValidIban(iban)) continue;
    ranks.set(iban, Math.min(rankEdit(text, edit), ranks.get(iban) ?? Number.POSITIVE_INFINITY));
  }
  return ranks;
}
