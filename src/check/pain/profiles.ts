import { findCountryFormat } from '../../iban/registry.ts';
import type { Scheme } from '../finding.ts';
import { externalCodes, readList } from './code-lists.ts';
import { find, findAll, ibanOf, textOf, type XmlElement } from './elements.ts';
import type { MessageVersion } from './message-versions.ts';

/** By whose rules a message is judged. `auto`: by those that the message, or each of its payments, says that it follows. */
export type Profile = 'auto' | Exclude<Scheme, 'dk-other'>;

export const schemes: readonly Scheme[] = ['iso', 'sepa', 'dk', 'dk-other', 'sps'];
export const profiles: readonly Profile[] = ['auto', 'iso', 'sepa', 'dk', 'sps'];

/** The rules for a payment, or for one of its transactions. */
export function schemeOf(
  payment: XmlElement | null,
  transaction: XmlElement | null,
  profile: Profile,
  version: MessageVersion,
): Scheme {
  if (profile !== 'auto' && profile !== 'dk') return profile;
  if (profile === 'auto' && version.community !== null) return version.community;
  const levels = [payment, transaction].flatMap(serviceLevelsOf);
  const country = ibanOf(find(payment, `${version.own}Acct`)).slice(0, 2);
  const isGerman = profile === 'dk' || country === 'DE';
  const isSwiss = !isGerman && isSwissCountry(country);
  const isInScheme = levels.length > 0 || isSwiss ? levels.includes('SEPA') : isSepa(payment, transaction, version);
  // German banks have no other direct debits.
  if (isInScheme || (profile === 'dk' && version.isDirectDebit)) {
    // What they accept of each other, such as ä, they convert for banks of other countries.
    const isBetweenGermans = isGerman && ibanOf(find(transaction, `${version.other}Acct`)).startsWith('DE');
    return profile === 'dk' || isBetweenGermans ? 'dk' : 'sepa';
  }
  if (isGerman && !version.isDirectDebit) return 'dk-other';
  return isSwiss ? 'sps' : 'iso';
}

/** Liechtenstein has the payment system of Switzerland. */
export function isSwissCountry(country: string): boolean {
  return country === 'CH' || country === 'LI';
}

/** Those that are known, whatever their letters: a bank reads them as they are meant, or asks. */
export function serviceLevelsOf(part: XmlElement | null): readonly string[] {
  const levels = findAll(find(part, 'PmtTpInf'), 'SvcLvl');
  const codes = levels.map((level) => textOf(find(level, 'Cd'))?.toUpperCase() ?? 'proprietary');
  return codes.filter((code) => code === 'proprietary' || externalCodes.SvcLvl.has(code));
}

/** By its currency and accounts. */
function isSepa(
  payment: XmlElement | null,
  transaction: XmlElement | null,
  { isDirectDebit }: MessageVersion,
): boolean {
  if (textOf(find(payment, 'PmtMtd')) === 'CHK') return false;
  const amount = findAmount(transaction, isDirectDebit);
  const isInEuro = transaction === null || (amount?.name === 'InstdAmt' && amount.attributes.Ccy === 'EUR');
  const accounts = ['DbtrAcct', 'CdtrAcct'].flatMap((name) => find(payment, name) ?? find(transaction, name) ?? []);
  const isInSepa = (account: XmlElement) => findCountryFormat(ibanOf(account).slice(0, 2))?.sepa ?? false;
  return isInEuro && accounts.length > 0 && accounts.every(isInSepa);
}

/** What a transaction adds to the control sum: its amount, or that from which the bank calculates it. */
export function findAmount(transaction: XmlElement | null, isDirectDebit: boolean): XmlElement | null {
  if (isDirectDebit) return find(transaction, 'InstdAmt');
  return find(transaction, 'Amt', 'InstdAmt') ?? find(transaction, 'Amt', 'EqvtAmt', 'Amt');
}

/** The countries whose currency is the euro, and the others of the European Union. */
export const euroArea = readList('euro area');
export const otherEuCountries = readList('other EU');
const otherEeaCountries = readList('other EEA');

/** The European Economic Area. */
export function isInEea(country: string): boolean {
  return [euroArea, otherEuCountries, otherEeaCountries].some((countries) => countries.has(country));
}
