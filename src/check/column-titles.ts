/* What the titles of columns say, in all languages in one table. Nothing else is guessed from words. */

// cspell:disable

/** Who pays, or is paid. */
export type Party = 'payee' | 'payer';

/** The words of a title in lower case: SWIFT_BIC, creditor-bic and BICCode have several. */
export function wordsOf(title: string | undefined): string {
  return (title ?? '')
    .replace(/IBAN|BIC|SWIFT/g, ' $& ')
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();
}

export const accountWords = /iban|account|konto|compte|cuenta|conta|conto|rekening|rachun/;

/** Whether a column has accounts by its title, if a few of them are IBANs: "IBAN status" is about those of another column. */
export function isTitleOfAccounts(words: string): boolean {
  return accountWords.test(words) && !(/\biban\b/.test(words) && aboutIbans.test(words));
}

const aboutIbans =
  /\b(?:status|valid|check|checked|result|country|land|type|art|holder|owner|inhaber|name|bank|date|length)\b|pr(?:.|ue)f|verif|g(?:.|ue)ltig|houder/;

/** Without an IBAN below it, the title must say nothing else, such as when an IBAN was verified. */
export function isTitleOfIbans(words: string): boolean {
  const rest = restOf(words).split(' ');
  return /\biban\b/.test(words) && rest.every((word) => fillers.test(word) || findParty(word) !== null);
}

/** What a title says beside the words for codes: the same for an IBAN and its BIC. */
export function restOf(words: string): string {
  return words.replace(codeWords, ' ').replace(/ +/g, ' ').trim();
}

const codeWords = /\b(?:iban|bban|bic|swift|blz|code|nr|no|number|nummer|account|konto|kontonummer|kto|rekening)\b/g;
const fillers = /^(?:|\d+|of|the|der|des|du|de|del|della|do|van|second|zweite)$/;

/** What titles say, in every language in one table; also as a part of a word. The counterparty is who is paid. */
const payeeWords =
  /payee|beneficiary|creditor|recipient|receiver|supplier|vendor|empf(?:.|ae)nger|beg(?:.|ue)nstigte|kreditor|lieferant|b.n.ficiaire|destinataire|cr.ancier|fournisseur|beneficiario|acreedor|begunstigde|crediteur|counterpart|gegenkonto|gegenpartei|tegenpartij|tegenrekening|contrepartie|contropart|contrapart|\bto\b/;
const payerWords =
  /payer|debtor|sender|auftraggeber|auftragskonto|zahler|zahlungspflichtig|debitor|ordrant|ordonnateur|donneur|d.biteur|ordenante|deudor|ordinante|opdrachtgever|debiteur|debit account|belastungskonto|\b(?:from|own|eigen\w*)\b/;

export function findParty(words: string): Party | null {
  const [isPayee, isPayer] = [payeeWords.test(words), payerWords.test(words)];
  if (isPayee === isPayer) return null;
  return isPayee ? 'payee' : 'payer';
}

const nameWords = /name|naam|nome|nombre|\bnom\b|holder|inhaber|titular|titulaire/;

/** Less than the name that a bank compares. */
const partOfName =
  /\b(?:first|last|given|middle|family)\b|sur ?name|vorname|nachname|familienname|voornaam|achternaam|pr.nom|^nom$|apellido|cognome/;

/** Names of something else than a person or company that is paid. */
const otherNames =
  /^bank|\p{L}bank\b|bank ?name|(?:name|naam) (?:(?:of|the|der|des|van|de) )*bank|banque|\bbanc[ao]\b|kategori|cat.gor|country|l.nder|file|datei|user/u;

/** What else a table has about a payee. */
const payeeDetails =
  /typ|\bart\b|country|land|adres|address|anschrift|city|\bort\b|street|stra(?:.|ss)e|zip|plz|mail|phone|\btel|dat[eu]|\b(?:id|ref|betrag|amount)\b|konto|account|text|zweck|reference|status/;

/** Whether a title is that of amounts, account numbers or bank codes. */
export function isDetail(words: string): boolean {
  return amountWords.test(words) || bankCodeWords.test(words) || (accountWords.test(words) && !aboutIbans.test(words));
}

const amountWords = /betrag|amount|montant|importe?\b|importo|bedrag|kwota|umsatz/;
const bankCodeWords = /\b(?:blz|bankleitzahl|sort ?code|bank ?code|code banque|routing)\b/;

/** How well a title fits names of a party, from 0; empty: it says nothing of names. */
export function rankName(words: string, party: Party): number[] {
  const isName = nameWords.test(words);
  const isParty = (payeeWords.test(words) || payerWords.test(words)) && restOf(words) === words;
  if (!isName && (!isParty || payeeDetails.test(words))) return [];
  if (partOfName.test(words)) return [4];
  return [(findParty(words) === party ? 0 : 2) + Number(!isName)];
}

/** Whether a title is of the names of others, which are never those of a party. */
export function isOfOthers(words: string, party: Party): boolean {
  const named = findParty(words);
  return (named !== null && named !== party) || otherNames.test(words);
}
