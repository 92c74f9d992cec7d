import { findCountryFormat } from '../../iban/registry.ts';
import { find, findAll, ibanOf, textOf, type XmlElement } from './elements.ts';
import type { MessageVersion } from './message-versions.ts';
import type { Scheme } from './rules.ts';

/** By whose rules a message is judged. `auto`: by those that the message, or each of its payments, says that it follows. */
export type Profile = 'auto' | Scheme;

export const profiles: readonly Profile[] = ['auto', 'iso', 'sepa', 'dk', 'sps'];

/** The rules for a payment, or for one of its transactions. */
export function schemeOf(
  { payment, transaction }: { payment: XmlElement; transaction: XmlElement | null },
  profile: Profile,
  version: MessageVersion,
): Scheme {
  if (profile !== 'auto') return profile;
  if (version.community !== null) return version.community;
  return isSepa(payment, transaction, version) ? 'sepa' : 'iso';
}

/** By its service level or, without one, by its currency and accounts. */
function isSepa(payment: XmlElement, transaction: XmlElement | null, { isDirectDebit }: MessageVersion): boolean {
  const levels = [payment, transaction].flatMap((part) => findAll(find(part, 'PmtTpInf'), 'SvcLvl'));
  if (levels.length > 0) return levels.some((level) => textOf(find(level, 'Cd')) === 'SEPA');
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
