import { createFittingCharacters } from './fitting-characters.ts';
import { isValidIban, parseIban } from './iban.ts';
import { findCountryFormat } from './registry.ts';
import { rankSlip, slipsIn, undo } from './slips.ts';

export interface SuggestOptions {
  /** Whether a directory lists this bank code of this country; IBANs of listed banks come first. */
  isKnownBank?: (country: string, bankCode: string) => boolean;
  /** How many IBANs at most. */
  limit?: number;
}

/**
 * Valid IBANs one slip away from an invalid compacted text: one character wrong, missing or too many, or two
 * neighbours swapped. Known banks come first, and among equals the likelier slip. Empty for a valid IBAN, and for a
 * text that no single slip explains.
 */
export function suggestIbans(
  text: string,
  { isKnownBank = () => false, limit = 5 }: SuggestOptions = {},
): readonly string[] {
  if (isHopeless(text) || isValidIban(text)) return [];
  return [...findCandidates(text)]
    .map(([iban, rank]) => ({ iban, rank, isKnown: isOfKnownBank(iban, isKnownBank) }))
    .sort((one, other) => Number(other.isKnown) - Number(one.isKnown) || one.rank - other.rank)
    .slice(0, limit)
    .map(({ iban }) => iban);
}

/** The longest IBANs that ISO 13616 allows have 34 characters. */
const maxLength = 34;

/** One slip adds one character at most, and makes one character illegal at most. */
function isHopeless(text: string): boolean {
  return text.length > maxLength + 1 || text.replace(/[A-Z0-9]+/g, '').length > 1;
}

/** Every valid IBAN one slip away, with the rank of the likeliest slip that leads there. */
function findCandidates(text: string): ReadonlyMap<string, number> {
  const length = findCountryFormat(text.slice(0, 2))?.length;
  // A slip in the country code leads to another country, and so to another length.
  const hasRoom = (growth: number, at: number) => at < countryCode || text.length + growth === length;

  const ranks = new Map<string, number>();
  for (const slip of slipsIn(text, { hasRoom, fitting: createFittingCharacters(text) })) {
    const iban = undo(text, slip);
    if (findCountryFormat(iban.slice(0, 2))?.length !== iban.length || !isValidIban(iban)) continue;
    ranks.set(iban, Math.min(rankSlip(text, slip), ranks.get(iban) ?? Number.POSITIVE_INFINITY));
  }
  return ranks;
}

/** Characters of the country code. */
const countryCode = 2;

function isOfKnownBank(iban: string, isKnownBank: (country: string, bankCode: string) => boolean): boolean {
  const parts = parseIban(iban);
  return parts !== null && isKnownBank(parts.countryCode, parts.bankCode);
}
