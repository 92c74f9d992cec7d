import type { ListedBank } from '../../../bank-lists/listed-bank.ts';

/** A BIC with its branch: without one it means the head office, `XXX`. */
export function fullBic(bic: string): string {
  return bic.length === 8 ? `${bic}XXX` : bic;
}

/**
 * Which of two banks with the same BIC comes closer to the head office. No directory marks it, so: the bank code of
 * the place that a German BIC names, then the shorter name, because branches and accounting units append to it
 * (`Isbank` and `Isbank Fil Berlin`), then the lower bank code. A bank without a name comes last.
 */
export function isCloserToHeadOffice(bank: ListedBank, other: ListedBank): boolean {
  const [isInPlace, otherIsInPlace] = [isInPlaceOfBic(bank), isInPlaceOfBic(other)];
  if (isInPlace !== otherIsInPlace) return isInPlace;
  const [length, otherLength] = [bank.name.length || Infinity, other.name.length || Infinity];
  if (length !== otherLength) return length < otherLength;
  return bank.bankCode < other.bankCode;
}

/**
 * The location part of German BICs, and how the bank codes of that place begin: Berlin, Düsseldorf, Frankfurt,
 * Hamburg, Munich, Stuttgart. Elsewhere neither part of a BIC nor of a bank code tells the place.
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
