import { findCountryFormat } from '../../iban/registry.ts';
import { find, findAll, ibanOf, textOf, type XmlElement } from './elements.ts';
import { externalCodes } from './external-codes.ts';
import type { MessageVersion } from './message-versions.ts';
import type { Scheme } from './rules.ts';

/** By whose rules a message is judged. `auto`: by those that the message, or each of its payments, says that it follows. */
export type Profile = 'auto' | Scheme;

export const schemes: readonly Scheme[] = ['iso', 'sepa', 'dk', 'sps'];
export const profiles: readonly Profile[] = ['auto', ...schemes];

/** The rules for a payment, or for one of its transactions. */
export function schemeOf(
  { payment, transaction }: { payment: XmlElement; transaction: XmlElement | null },
  profile: Profile,
  version: MessageVersion,
): Scheme {
  if (profile !== 'auto') return profile;
  if (version.community !== null) return version.community;
  const levels = [payment, transaction].flatMap(serviceLevelsOf);
  const country = ibanOf(find(payment, `${version.own}Acct`)).slice(0, 2);
  const isSwiss = country === 'CH' || country === 'LI';
  const isInScheme = levels.length > 0 || isSwiss ? levels.includes('SEPA') : isSepa(payment, transaction, version);
  if (!isInScheme) return isSwiss ? 'sps' : 'iso';
  // What German banks accept of each other, such as ä, they convert for banks of other countries.
  const isGerman = [country, ibanOf(find(transaction, `${version.other}Acct`)).slice(0, 2)].every(
    (each) => each === 'DE',
  );
  return isGerman ? 'dk' : 'sepa';
}

/** Those that are known, whatever their letters: a bank reads them as they are meant, or asks. */
function serviceLevelsOf(part: XmlElement | null): readonly string[] {
  const levels = findAll(find(part, 'PmtTpInf'), 'SvcLvl');
  const codes = levels.map((level) => textOf(find(level, 'Cd'))?.toUpperCase() ?? 'proprietary');
  return codes.filter((code) => code === 'proprietary' || externalCodes.SvcLvl.has(code));
}

/** By its currency and accounts. */
function isSepa(payment: XmlElement, transaction: XmlElement | null, { isDirectDebit }: MessageVersion): boolean {
  if (textOf(find(payment, 'PmtMtd')) === 'CHK') return false;
  const amount = findAmount(transaction, isDirectDebit);
  const isInEuro = transaction === null || (amount?.name === 'InstdAmt' && amount.attributes.Ccy === 'EUR');
  const accounts = ['DbtrAcct', 'CdtrAcct'].flatMap((name) => find(payment, name) ?? find(transaction, name) ?? []);
  return isInEuro && accounts.length > 0 && accounts.every(isInSepa);
}

function isInSepa(account: XmlElement): boolean {
  return findCountryFormat(ibanOf(account).slice(0, 2))?.sepa ?? false;
}

/** What a transaction adds to the control sum: its amount, or that from which the bank calculates it. */
export function findAmount(transaction: XmlElement | null, isDirectDebit: boolean): XmlElement | null {
  if (isDirectDebit) return find(transaction, 'InstdAmt');
  return find(transaction, 'Amt', 'InstdAmt') ?? find(transaction, 'Amt', 'EqvtAmt', 'Amt');
}

/** The countries whose currency is the euro, and the others of the European Union. */
export const euroArea: ReadonlySet<string> = new Set(
  'AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK'.split(' '),
);
export const otherEuCountries: ReadonlySet<string> = new Set('CZ DK HU PL RO SE'.split(' '));

/** The European Economic Area. */
export function isInEea(country: string): boolean {
  return euroArea.has(country) || otherEuCountries.has(country) || ['IS', 'LI', 'NO'].includes(country);
}
