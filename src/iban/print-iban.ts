/**
 * A compacted IBAN in groups of four, as on paper (ISO 13616).
 * @example
 * printIban('DE89370400440532013000') // => 'DE89 3704 0044 0532 0130 00'
 */
export function printIban(iban: string): string {
  return iban.replace(/.{4}(?=.)/g, '$& ');
}

/**
 * A compacted IBAN in groups of four that shows only the country, the check digits and the last four characters. Only the length is
 * shown of a text that is too short, or does not begin as an IBAN does: it may be the number of a card.
 * @example
 * maskIban('DE89370400440532013000') // => 'DE89 **** **** **** **30 00'
 * maskIban('4111111111111111') // => '**** **** **** ****'
 */
export function maskIban(iban: string): string {
  const shown = /^[A-Z]{2}\d\d[A-Z0-9]*$/.test(iban) && iban.length >= shortestIban ? 4 : 0;
  const hidden = iban.length - 2 * shown;
  return printIban(iban.slice(0, shown) + '*'.repeat(hidden) + iban.slice(shown + hidden));
}

/** Norwegian IBANs have 15 characters. */
const shortestIban = 15;
