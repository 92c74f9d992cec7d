import { findCountryFormat } from '../../iban/registry.ts';
import type { RuleCode } from '../finding.ts';
import { readDay } from './check-elements.ts';
import { checkReferences, isQrIban } from './check-references.ts';
import { externalCodes, readList } from './code-lists.ts';
import { find, findAll, ibanOf, textOf, type XmlElement, xpathOf } from './elements.ts';
import type { CheckContext, MessageFindings } from './findings.ts';
import type { MessageVersion } from './message-versions.ts';
import { isInEea } from './profiles.ts';
import { addDays, describeCreditorIdProblem, isTargetClosed, nextTargetDay } from './values.ts';

/* What SEPA and banks require beyond ISO 20022, whose schema says what is mandatory in each message. */

/** Checks what a payment says about all of its transactions. */
export function checkPayment(payment: XmlElement, version: MessageVersion, context: CheckContext): void {
  const { isDirectDebit, own } = version;
  const { findings } = context;
  const account = find(payment, `${own}Acct`);
  checkMandatory(find(payment, own), ['Nm'], findings);
  checkMandatory(find(account, 'Id'), ['IBAN'], findings);
  checkCode(find(payment, 'PmtMtd'), [isDirectDebit ? 'DD' : 'TRF'], findings);
  checkExternalCodes(payment, findings);
  if (isQrIban(account)) {
    const message = 'A QR-IBAN only receives payments. Write the other IBAN of the account.';
    findings.add('QR_IBAN', find(account, 'Id', 'IBAN'), message);
  }
  if (isDirectDebit) checkSequence(payment, findings);
  checkExecutionDate(payment, version, context);
  checkChargeBearer(payment, findings);
  checkCreditorId(find(payment, 'CdtrSchmeId'), findings);
}

/** Checks a transaction without its amount. */
export function checkTransaction(transaction: XmlElement, version: MessageVersion, context: CheckContext): void {
  const { isDirectDebit, other: party } = version;
  const { findings } = context;
  checkMandatory(transaction, [`${party}/Nm`, `${party}Acct/Id/IBAN`], findings);
  if (!isDirectDebit) {
    checkMandatory(find(transaction, 'Amt'), ['InstdAmt'], findings);
    const message =
      'The bank of the payee has no BIC. Write it, or leave CdtrAgt out: NOTPROVIDED is for the own bank.';
    findings.add('PAYEE_BANK_OTHER', find(transaction, 'CdtrAgt', 'FinInstnId', 'Othr'), message);
  }
  checkChargeBearer(transaction, findings);
  checkExternalCodes(transaction, findings);
  if (find(transaction.parent, 'PmtTpInf') !== null) {
    const message = 'PmtTpInf is in the payment, too. Give it in the payment or in its transactions.';
    findings.add('ELEMENT_REPEATED', find(transaction, 'PmtTpInf'), message);
  }
  checkReferences(transaction, findings);
  checkExternalCode(find(transaction, 'Purp'), 'PURPOSE_FORMAT', findings);
  checkProprietary(find(transaction, 'Purp'), findings);
  if (isDirectDebit) checkDirectDebit(transaction, context);
  checkPayerAddress(transaction, context);
}

/** Reports the elements at these paths that are missing, which SEPA requires. */
function checkMandatory(element: XmlElement | null, paths: readonly string[], findings: MessageFindings): void {
  if (!findings.isSepa) return;
  for (const path of paths) {
    const names = path.split('/');
    for (let parent = element; parent !== null && names.length > 0; ) {
      const child = find(parent, names[0] ?? '');
      if (child === null) findings.addMissing(parent, names.join('/'));
      parent = child;
      names.shift();
    }
  }
}

function checkCode(element: XmlElement | null, allowed: readonly string[], findings: MessageFindings): void {
  const code = textOf(element);
  if (element === null || code === null || allowed.includes(code)) return;
  const [suggestion = null] = allowed.filter((each) => allowed.length === 1 || each === code.toUpperCase());
  findings.add('WRONG_CODE', element, `${element.name} must be ${allowed.join(' or ')}.`, suggestion);
}

/** Codes of the lists that ISO 20022 publishes apart from the messages. */
function checkExternalCodes(part: XmlElement, findings: MessageFindings): void {
  const type = find(part, 'PmtTpInf');
  for (const level of findAll(type, 'SvcLvl')) checkExternalCode(level, 'SERVICE_LEVEL_UNKNOWN', findings);
  for (const name of ['LclInstrm', 'CtgyPurp']) checkExternalCode(find(type, name), 'EXTERNAL_CODE_UNKNOWN', findings);
  const slip = find(type, 'LclInstrm', 'Prtry');
  if (!/^CH0[123]$/.test(textOf(slip) ?? '')) return;
  const message = 'Payment slips ended on 30 September 2022. Leave LclInstrm out, and pay to the IBAN or QR-IBAN.';
  findings.add('PAYMENT_SLIP_ENDED', slip, message);
}

function checkExternalCode(choice: XmlElement | null, unknown: RuleCode, findings: MessageFindings): void {
  const element = find(choice, 'Cd');
  const code = textOf(element);
  const codes: ReadonlyMap<string, string> = externalCodes[choice?.name as keyof typeof externalCodes];
  if (choice === null || code === null || codes.has(code)) return;
  const capitals = code.toUpperCase();
  const message = `${choice.name}/Cd is not in the list of ISO 20022, which has codes such as ${examples.get(choice.name)}. The bank may refuse it.`;
  findings.add(unknown, element, message, codes.has(capitals) ? capitals : null);
}

const examples = readList('example');

/** Where SEPA requires a code. */
function checkProprietary(choice: XmlElement | null, findings: MessageFindings): void {
  const name = choice?.name ?? '';
  const message = `${name} of a SEPA payment must be a code, such as ${examples.get(name)}, in Cd. Prtry is for texts of a bank.`;
  findings.add('CODE_REQUIRED', find(choice, 'Prtry'), message);
}

function checkSequence(element: XmlElement, findings: MessageFindings): void {
  const type = find(element, 'PmtTpInf');
  checkProprietary(find(type, 'LclInstrm'), findings);
  checkCode(find(type, 'LclInstrm', 'Cd'), ['CORE', 'B2B'], findings);
  checkCode(find(type, 'SeqTp'), ['FRST', 'RCUR', 'FNAL', 'OOFF'], findings);
}

function checkChargeBearer(element: XmlElement, findings: MessageFindings): void {
  const bearer = find(element, 'ChrgBr');
  if ((textOf(bearer) ?? 'SLEV') === 'SLEV') return;
  findings.add('CHARGE_BEARER_NOT_SLEV', bearer, 'ChrgBr of a SEPA payment must be SLEV.', 'SLEV');
}

/** Banks of some countries read this day so. */
const asSoonAsPossible = '1999-01-01';

/** The day on which a payment is executed; today if that is unknown or past. */
export function executionDayOf(payment: XmlElement, today: string): string {
  const element = find(payment, 'ReqdExctnDt') ?? find(payment, 'ReqdColltnDt');
  const day = readDay(dateIn(element)) ?? today;
  return day < today ? today : day;
}

/** The element with the date: since 2019, it is in a choice. */
function dateIn(element: XmlElement | null): XmlElement | null {
  return find(element, 'Dt') ?? find(element, 'DtTm') ?? element;
}

function checkExecutionDate(payment: XmlElement, version: MessageVersion, { findings, today }: CheckContext): void {
  const element = find(payment, version.date);
  if (textOf(element) !== null && version.date === 'ReqdExctnDt' && version.edition === 2019) {
    const message = `In ${version.name}, the date is in ${version.date}/Dt.`;
    findings.add('ELEMENT_OF_OTHER_VERSION', element, message);
  }
  const place = dateIn(element);
  const day = readDay(place);
  if (day === null || day === asSoonAsPossible) return;
  const isInstant = textOf(find(payment, 'PmtTpInf', 'LclInstrm', 'Cd')) === 'INST';
  if (day < today) {
    findings.add('EXECUTION_DATE_PAST', place, `The date ${day} is past. It must be today, ${today}, or later.`);
  } else if (day > addDays(today, 180)) {
    const message = `The date ${day} is over 180 days after today, ${today}. Check the year.`;
    findings.add('EXECUTION_DATE_FAR', place, message);
  } else if (!isInstant && isTargetClosed(day)) {
    const message = `TARGET is closed on ${day}. The bank executes the payment on another day.`;
    findings.add('EXECUTION_DATE_NO_BUSINESS_DAY', place, message);
  } else if (version.isDirectDebit && day <= nextTargetDay(today)) {
    const message = `Direct debits must reach the other bank one business day before ${day}. Ask your bank how late it accepts them.`;
    findings.add('COLLECTION_DATE_SOON', place, message);
  }
}

function checkDirectDebit(transaction: XmlElement, { findings, today, reported }: CheckContext): void {
  const mandate = find(transaction, 'DrctDbtTx', 'MndtRltdInf');
  checkMandatory(transaction, ['DbtrAgt', 'DrctDbtTx/MndtRltdInf/MndtId', 'DrctDbtTx/MndtRltdInf/DtOfSgntr'], findings);
  checkSequence(transaction, findings);
  checkCreditorId(find(transaction, 'DrctDbtTx', 'CdtrSchmeId'), findings);
  checkAmendment(mandate, findings);
  const signature = find(mandate, 'DtOfSgntr');
  const day = readDay(signature);
  if (day !== null && day > today) {
    const message = `The mandate is signed on ${day}, after today, ${today}. Write the day on which the debtor signed it.`;
    findings.add('SIGNATURE_DATE_IN_FUTURE', signature, message);
  }
  // What neither the payment nor this transaction has is reported once for each payment.
  for (const path of inDebitOrPayment) {
    const parts = [transaction.parent, transaction, find(transaction, 'DrctDbtTx')];
    if (reported.has(path) || parts.some((part) => find(part, ...path.split('/')))) continue;
    checkMandatory(transaction.parent, [path], findings);
    reported.add(path);
  }
}

/** What a direct debit or, for all of its transactions, its payment must have. */
const inDebitOrPayment = ['PmtTpInf/SvcLvl', 'PmtTpInf/LclInstrm', 'PmtTpInf/SeqTp', 'CdtrSchmeId'];

function checkAmendment(mandate: XmlElement | null, findings: MessageFindings): void {
  const indicator = find(mandate, 'AmdmntInd');
  const details = find(mandate, 'AmdmntInfDtls');
  const isAmended = ['true', '1'].includes(textOf(indicator) ?? '');
  if (isAmended && details === null) {
    findings.add('AMENDMENT_MISSING', indicator, 'AmdmntInd is true, so AmdmntInfDtls must say what was amended.');
  } else if (!isAmended) {
    const message = 'The mandate has AmdmntInfDtls, so AmdmntInd should be true.';
    findings.add('AMENDMENT_NOT_INDICATED', details, message);
  }
  const original = find(details, 'OrgnlCdtrSchmeId');
  if (find(original, 'Id') !== null) checkCreditorId(original, findings);
}

function checkCreditorId(scheme: XmlElement | null, findings: MessageFindings): void {
  checkMandatory(scheme, ['Id/PrvtId/Othr/Id', 'Id/PrvtId/Othr/SchmeNm/Prtry'], findings);
  const other = find(scheme, 'Id', 'PrvtId', 'Othr');
  checkCode(find(other, 'SchmeNm', 'Prtry'), ['SEPA'], findings);
  const id = find(other, 'Id');
  const problem = describeCreditorIdProblem(textOf(id) ?? '');
  if (problem !== null) findings.add('CREDITOR_ID_INVALID', id, `The creditor identifier is not valid. ${problem}`);
}

/** The regulation requires the address of the payer, where a bank is outside the European Economic Area. */
function checkPayerAddress(transaction: XmlElement, { findings, reported }: CheckContext): void {
  const { parent: payment } = transaction;
  const payer = find(payment, 'Dbtr') ?? find(transaction, 'Dbtr');
  const accounts = ['DbtrAcct', 'CdtrAcct'].map((name) => find(payment, name) ?? find(transaction, name));
  const country = accounts
    .map((account) => ibanOf(account).slice(0, 2))
    .find((code) => findCountryFormat(code) && !isInEea(code));
  if (payer === null || country === undefined || find(payer, 'PstlAdr') !== null || reported.has(xpathOf(payer)))
    return;
  if (payer.parent === payment) reported.add(xpathOf(payer));
  const message = `The payer has no address, which payments from or to ${country}, outside the EEA, require. Add PstlAdr.`;
  findings.add('ADDRESS_REQUIRED', payer, message);
}
