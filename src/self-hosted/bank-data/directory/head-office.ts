import type { ListedBank } from '../../../bank-lists/listed-bank.ts';

/** A BIC with 11 characters: without a branch it is that of the head office, `XXX`. */
export function fullBic(bic: string): string {
  return bic.length === 8 ? `${bic}XXX` : bic;
}

/**
 * Whether the first of two banks with the same BIC is more likely to be the head office, which no directory marks. In
 * this order: a bank code of the place in a German BIC, the shorter name, because branches and accounting units append
 * to it (`Isbank` and `Isbank Fil Berlin`), the lower bank code. Banks without a name come last.
 */
export function isCloserToHeadOffice(bank: ListedBank, other: ListedBank): boolean {
  const [isInPlace, otherIsInPlace] = [isInPlaceOfBic(bank), isInPlaceOfBic(other)];
  if (isInPlace !== otherIsInPlace) return isInPlace;
  const [length, otherLength] = [bank.name.length || Infinity, other.name.length || Infinity];
  if (length !== otherLength) return length < otherLength;
  return bank.bankCode < other.bankCode;
}

/**
 * By the location of a German BIC: the first digits of the bank codes of that place (Berlin, Düsseldorf, Frankfurt,
 * Hamburg, Munich, Stuttgart). Other places cannot be recognized.
 */
const places: Readonly<Record<string, string>> = {
  BB: '100',
  DD: '300',
  FF: '500',
  HH: '200',
  MM: '700',
  SS: '600',
};

function isInPlaceOfBic({ country, bankCode, bic }: ListedBank): boolean {
  const place = country === 'DE' ? places[bic.slice(6, 8)] : undefined;
  return place !== undefined && bankCode.startsWith(place);
}
