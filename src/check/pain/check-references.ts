import { mod97 } from '../../iban/mod97.ts';
import { find, findAll, ibanOf, textOf, type XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';

/** Checks the references of a remittance information by the standards that they follow. */
export function checkReferences(transaction: XmlElement, findings: MessageFindings): void {
  const remittance = find(transaction, 'RmtInf');
  const account = find(transaction, 'CdtrAcct');
  const toQrIban = isQrIban(account);
  let hasQrReference = false;
  for (const structured of findAll(remittance, 'Strd')) {
    const reference = find(structured, 'CdtrRefInf', 'Ref');
    const type = find(structured, 'CdtrRefInf', 'Tp', 'CdOrPrtry');
    const isQr = textOf(find(type, 'Prtry')) === 'QRR';
    const written = textOf(reference);
    if (reference === null || written === null) continue;
    const text = written.replaceAll(' ', '').toUpperCase();
    const isCreditorReference = textOf(find(type, 'Cd')) === 'SCOR' && /^RF\d\d/.test(text);
    if (text !== written && (isQr || isCreditorReference)) {
      const message = 'The reference has spaces or small letters. Write only capital letters and digits.';
      findings.add('REFERENCE_NOT_COMPACT', reference, message, text);
    }
    hasQrReference ||= isQr;
    if (isQr && !(/^\d{27}$/.test(text) && hasCheckDigit(text))) {
      const message = 'A QR reference must have 27 digits, of which the last one is the check digit.';
      findings.add('REFERENCE_CHECK_DIGITS', reference, message);
    } else if (isQr && !toQrIban) {
      findings.add('QR_REFERENCE', reference, 'A QR reference needs a QR-IBAN. Write the QR-IBAN of the creditor.');
    } else if (isCreditorReference && !isIso11649(text)) {
      const message = 'The check digits of the RF reference do not match. Compare it with the invoice.';
      findings.add('REFERENCE_CHECK_DIGITS', reference, message);
    } else if (textOf(find(structured, 'CdtrRefInf', 'Tp', 'Issr')) === 'BBA') {
      checkBelgianReference(reference, /^(\d{3})(\d{4})(\d{5})$/, findings);
    }
  }
  const iban = find(account, 'Id', 'IBAN') ?? transaction;
  const currency = find(transaction, 'Amt', 'InstdAmt')?.attributes.Ccy ?? 'EUR';
  if (toQrIban && !['CHF', 'EUR'].includes(currency)) {
    findings.add('QR_IBAN', iban, `A QR-IBAN receives CHF and EUR, not ${currency}. Write the other IBAN.`);
  }
  if (toQrIban && !hasQrReference) {
    const message = 'A QR-IBAN needs a QR reference: Strd with Prtry QRR. Write it, or the other IBAN.';
    findings.add('QR_REFERENCE', iban, message);
  }
  for (const unstructured of findAll(remittance, 'Ustrd')) {
    checkBelgianReference(unstructured, /^(?:\+{3}|\*{3})(\d{3})\/(\d{4})\/(\d{5})(?:\+{3}|\*{3})$/, findings);
  }
}

/** Whether an account receives payments with QR references only, by the number of its institution. */
export function isQrIban(account: XmlElement | null): boolean {
  return /^(?:CH|LI)\d\d3[01]\d{3}/.test(ibanOf(account));
}

/** Such as +++090/9337/55493+++: the last two digits are the remainder of the others by 97, or 97 for 0. */
function checkBelgianReference(element: XmlElement, format: RegExp, findings: MessageFindings): void {
  const [, ...parts] = format.exec(element.text.trim()) ?? [];
  if (parts.length === 0) return;
  const digits = parts.join('');
  if ((Number(digits.slice(0, 10)) % 97 || 97) === Number(digits.slice(10))) return;
  const message = 'The check digits of the Belgian structured communication do not match. Compare it with the invoice.';
  findings.add('REFERENCE_CHECK_DIGITS', element, message);
}

/** Creditor references: RF, two check digits, 1 to 21 letters and digits. */
function isIso11649(text: string): boolean {
  return /^RF\d\d[A-Z0-9]{1,21}$/.test(text) && mod97(text, 4) === 1;
}

/** Such as 80-470-3, or in nine digits: the last one is a check digit. */
export function isPostalAccount(text: string): boolean {
  const digits = text.replace(
    /^(\d\d)-(\d{1,6})-(\d)$/,
    (_, office, number, digit) => office + number.padStart(6, '0') + digit,
  );
  return /^\d{9}$/.test(digits) && hasCheckDigit(digits);
}

/** By the recursive method modulo 10. */
function hasCheckDigit(digits: string): boolean {
  let carry = 0;
  for (const digit of digits.slice(0, -1)) carry = carries[(carry + Number(digit)) % 10] ?? 0;
  return (10 - carry) % 10 === Number(digits.at(-1));
}

const carries = [0, 9, 4, 6, 8, 2, 7, 1, 3, 5];
