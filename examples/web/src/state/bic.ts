export type BicMatch = 'SAME_BANK' | 'OTHER_BANK' | 'UNKNOWN';

/** What is wrong with the format of a compacted BIC, as the command line tool names it; null if nothing is. */
export function findBicProblem(bic: string): 'BIC_ILLEGAL_CHARACTERS' | 'BIC_WRONG_LENGTH' | null {
  if (/[^A-Z0-9]/.test(bic)) return 'BIC_ILLEGAL_CHARACTERS';
  return bic.length === 8 || bic.length === 11 ? null : 'BIC_WRONG_LENGTH';
}

/**
 * Compares a compacted BIC with all that are known of the bank of an IBAN, as `IbanValidation.bicMatch` does. The query of a list has
 * no argument for each of its items, so the page asks for the known BICs.
 */
export function matchBic(bic: string, known: readonly string[]): BicMatch {
  const isAlike = (length: number) => known.some((other) => other.slice(0, length) === bic.slice(0, length));
  if (findBicProblem(bic) !== null) return 'UNKNOWN';
  // Bank, country and location; otherwise only the bank.
  if (isAlike(8)) return 'SAME_BANK';
  return known.length === 0 || isAlike(4) ? 'UNKNOWN' : 'OTHER_BANK';
}
