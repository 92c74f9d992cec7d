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
