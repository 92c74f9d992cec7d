/**
 * A compacted IBAN in groups of four, as on paper (ISO 13616).
 * @example
 * printIban('DE89370400440532013000') // => 'DE89 3704 0044 0532 0130 00'
 */
export function printIban(iban: string): string {
  return iban.replace(/.{4}(?=.)/g, '$& ');
}

/**
 * An IBAN in groups of four that shows only the country, the check digits and the last four characters; of anything too short
 * for that, only the country.
 * @example
 * maskIban('DE89370400440532013000') // => 'DE89 **** **** **** **30 00'
 */
export function maskIban(iban: string): string {
  const [first, last] = iban.length >= shortestIban ? [4, 4] : [2, 0];
  const hidden = Math.max(0, iban.length - first - last);
  return printIban(iban.slice(0, first) + '*'.repeat(hidden) + iban.slice(first + hidden));
}

/** Norwegian IBANs have 15 characters. */
const shortestIban = 15;
