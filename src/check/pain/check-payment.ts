import { findCountryFormat } from '../../iban/registry.ts';
import { readDay } from './check-elements.ts';
import { checkReferences, isQrIban } from './check-references.ts';
import { find, findAll, ibanOf, textOf, type XmlElement, xpathOf } from './elements.ts';
import { externalCodes } from './external-codes.ts';
import type { MessageFindings } from './findings.ts';
import type { MessageVersion } from './message-versions.ts';
import { isInEea } from './profiles.ts';
import type { RuleCode } from './rules.ts';
import { describeCreditorIdProblem, isTargetClosed } from './values.ts';

interface PaymentRules {
  findings: MessageFindings;
  version: MessageVersion;
  /** ISO 8601, such as 2026-11-26. */
  today: string;
}

/** Checks what a payment says about all of its transactions. */
export function checkPayment(payment: XmlElement, { findings, version, today }: PaymentRules): void {
  const { isDirectDebit, own, date } = version;
  // What is mandatory by ISO 20022 is compared with the schema.
  checkMandatory(find(payment, own), ['Nm'], findings);
  checkMandatory(find(payment, `${own}Acct`, 'Id'), ['IBAN'], findings);
  checkCode(find(payment, 'PmtMtd'), [isDirectDebit ? 'DD' : 'TRF'], findings);
  checkExternalCodes(payment, findings);
  const account = find(payment, `${own}Acct`);
  const iban = find(account, 'Id', 'IBAN');
  if (iban !== null && isQrIban(account)) {
    findings.add('QR_IBAN', iban, 'A QR-IBAN only receives payments. Write the other IBAN of the account.');
  }
  if (isDirectDebit) checkSequence(payment, findings);
  checkExecutionDate(find(payment, date), { findings, version, today });
  checkChargeBearer(payment, findings);
  checkCreditorId(find(payment, 'CdtrSchmeId'), findings);
}

/** Checks a transaction without its amount. */
export function checkTransaction(transaction: XmlElement, { findings, version, today }: PaymentRules): void {
  const { isDirectDebit, other: party } = version;
  checkMandatory(transaction, [`${party}/Nm`, `${party}Acct/Id/IBAN`], findings);
  if (!isDirectDebit) checkMandatory(find(transaction, 'Amt'), ['InstdAmt'], findings);
  const other = isDirectDebit ? null : find(transaction, 'CdtrAgt', 'FinInstnId', 'Othr');
  if (other !== null) {
    const message =
      'The bank of the payee has no BIC. Write it, or leave CdtrAgt out: NOTPROVIDED is for the own bank.';
    findings.add('PAYEE_BANK_OTHER', other, message);
  }
  checkChargeBearer(transaction, findings);
  checkExternalCodes(transaction, findings);
  const type = find(transaction, 'PmtTpInf');
  if (type !== null && find(transaction.parent, 'PmtTpInf') !== null) {
    const message = 'PmtTpInf is in the payment, too. Give it in the payment or in its transactions.';
    findings.add('ELEMENT_REPEATED', type, message);
  }
  checkReferences(transaction, findings);
  checkExternalCode(find(transaction, 'Purp'), 'PURPOSE_FORMAT', findings);
  checkProprietary(find(transaction, 'Purp'), findings);
  if (isDirectDebit) checkDirectDebit(transaction, findings, today);
}

/** What a direct debit or, for all of its transactions, its payment must have. */
const inDebitOrPayment: readonly (readonly [path: string, inDebit: readonly string[]])[] = [
  ['PmtTpInf/SvcLvl', ['PmtTpInf', 'SvcLvl']],
  ['PmtTpInf/LclInstrm', ['PmtTpInf', 'LclInstrm']],
  ['PmtTpInf/SeqTp', ['PmtTpInf', 'SeqTp']],
  ['CdtrSchmeId', ['DrctDbtTx', 'CdtrSchmeId']],
];

/**
 * Reports what neither the payment nor this transaction has, once for each payment.
 * @param reported the paths that were reported
 */
export function checkCommonElements(
  payment: XmlElement,
  transaction: XmlElement,
  { findings, reported }: { findings: MessageFindings; reported: Set<string> },
): void {
  for (const [path, inDebit] of inDebitOrPayment) {
    if (reported.has(path) || find(payment, ...path.split('/')) || find(transaction, ...inDebit)) continue;
    checkMandatory(payment, [path], findings);
    reported.add(path);
  }
}

/** The regulation requires the address of the payer, where a bank is outside the European Economic Area. */
export function checkPayerAddress(
  payment: XmlElement,
  transaction: XmlElement,
  { findings, reported }: { findings: MessageFindings; reported: Set<string> },
): void {
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

/** Reports the elements at these paths that are missing, which SEPA requires. */
function checkMandatory(element: XmlElement | null, paths: readonly string[], findings: MessageFindings): void {
  if (element === null) return;
  for (const path of paths) {
    let parent = element;
    const names = path.split('/');
    for (const [index, name] of names.entries()) {
      const child = find(parent, name);
      if (child === null) {
        if (findings.isSepa) findings.addMissing(parent, names.slice(index).join('/'));
        break;
      }
      parent = child;
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
  for (const choice of [find(type, 'LclInstrm'), find(type, 'CtgyPurp')]) {
    checkExternalCode(choice, 'EXTERNAL_CODE_UNKNOWN', findings);
  }
}

function checkExternalCode(choice: XmlElement | null, unknown: RuleCode, findings: MessageFindings): void {
  const element = find(choice, 'Cd');
  const code = textOf(element);
  const codes: ReadonlySet<string> = externalCodes[choice?.name as keyof typeof externalCodes];
  if (choice === null || element === null || code === null || codes.has(code)) return;
  const capitals = code.toUpperCase();
  const message = `${choice.name}/Cd is not in the list of ISO 20022, which has codes such as ${examples[choice.name]}. The bank may refuse it.`;
  findings.add(unknown, element, message, codes.has(capitals) ? capitals : null);
}

const examples: Readonly<Record<string, string>> = {
  SvcLvl: 'SEPA',
  LclInstrm: 'CORE',
  CtgyPurp: 'SUPP',
  Purp: 'SALA',
};

/** Where SEPA requires a code. */
function checkProprietary(choice: XmlElement | null, findings: MessageFindings): void {
  const proprietary = find(choice, 'Prtry');
  if (choice === null || proprietary === null) return;
  const message = `${choice.name} of a SEPA payment must be a code, such as ${examples[choice.name]}, in Cd. Prtry is for texts of a bank.`;
  findings.add('CODE_REQUIRED', proprietary, message);
}

function checkSequence(element: XmlElement, findings: MessageFindings): void {
  checkProprietary(find(element, 'PmtTpInf', 'LclInstrm'), findings);
  checkCode(find(element, 'PmtTpInf', 'LclInstrm', 'Cd'), ['CORE', 'B2B'], findings);
  checkCode(find(element, 'PmtTpInf', 'SeqTp'), ['FRST', 'RCUR', 'FNAL', 'OOFF'], findings);
}

/** Banks of some countries read this day so. */
const asSoonAsPossible = '1999-01-01';

/** The day on which a payment is executed; today if that is unknown or past. */
export function executionDayOf(payment: XmlElement, today: string): string {
  const element = find(payment, 'ReqdExctnDt') ?? find(payment, 'ReqdColltnDt');
  const day = readDay(find(element, 'Dt') ?? find(element, 'DtTm') ?? element) ?? today;
  return day < today ? today : day;
}

function checkExecutionDate(element: XmlElement | null, { findings, version, today }: PaymentRules): void {
  if (element === null) return;
  const choice = find(element, 'Dt') ?? find(element, 'DtTm');
  const isChoiceExpected = element.name === 'ReqdExctnDt' && version.edition === 2019;
  if (isChoiceExpected && textOf(element) !== null) {
    const message = `In ${version.name}, the date is in ${element.name}/Dt.`;
    findings.add('ELEMENT_OF_OTHER_VERSION', element, message);
  }
  const place = choice ?? element;
  const day = readDay(place);
  if (day === null || day === asSoonAsPossible) return;
  const isInstant = textOf(find(element.parent, 'PmtTpInf', 'LclInstrm', 'Cd')) === 'INST';
  if (day < today) {
    findings.add('EXECUTION_DATE_PAST', place, `The date ${day} is past. It must be today, ${today}, or later.`);
  } else if (!isInstant && isTargetClosed(day)) {
    const message = `TARGET is closed on ${day}. The bank executes the payment on another day.`;
    findings.add('EXECUTION_DATE_NO_BUSINESS_DAY', place, message);
  }
}

function checkChargeBearer(element: XmlElement, findings: MessageFindings): void {
  const bearer = find(element, 'ChrgBr');
  const code = textOf(bearer);
  if (bearer === null || code === null || code === 'SLEV') return;
  findings.add('CHARGE_BEARER_NOT_SLEV', bearer, 'ChrgBr of a SEPA payment must be SLEV.', 'SLEV');
}

function checkDirectDebit(transaction: XmlElement, findings: MessageFindings, today: string): void {
  checkMandatory(transaction, ['DrctDbtTx/MndtRltdInf/MndtId', 'DrctDbtTx/MndtRltdInf/DtOfSgntr'], findings);
  checkSequence(transaction, findings);
  checkCreditorId(find(transaction, 'DrctDbtTx', 'CdtrSchmeId'), findings);
  const mandate = find(transaction, 'DrctDbtTx', 'MndtRltdInf');
  checkAmendment(mandate, findings);
  const signature = find(mandate, 'DtOfSgntr');
  const day = readDay(signature);
  if (signature === null || day === null || day <= today) return;
  const message = `The mandate is signed on ${day}, after today, ${today}. Write the day on which the debtor signed it.`;
  findings.add('SIGNATURE_DATE_IN_FUTURE', signature, message);
}

function checkAmendment(mandate: XmlElement | null, findings: MessageFindings): void {
  const indicator = find(mandate, 'AmdmntInd');
  const details = find(mandate, 'AmdmntInfDtls');
  const isAmended = ['true', '1'].includes(textOf(indicator) ?? '');
  if (indicator !== null && isAmended && details === null) {
    findings.add('AMENDMENT_MISSING', indicator, 'AmdmntInd is true, so AmdmntInfDtls must say what was amended.');
  }
  if (details !== null && !isAmended) {
    findings.add('AMENDMENT_NOT_INDICATED', details, 'The mandate has AmdmntInfDtls, so AmdmntInd should be true.');
  }
  const original = find(details, 'OrgnlCdtrSchmeId');
  if (find(original, 'Id') !== null) checkCreditorId(original, findings);
}

function checkCreditorId(scheme: XmlElement | null, findings: MessageFindings): void {
  if (scheme === null) return;
  checkMandatory(scheme, ['Id/PrvtId/Othr/Id', 'Id/PrvtId/Othr/SchmeNm/Prtry'], findings);
  const other = find(scheme, 'Id', 'PrvtId', 'Othr');
  checkCode(find(other, 'SchmeNm', 'Prtry'), ['SEPA'], findings);
  const id = find(other, 'Id');
  const problem = id === null ? null : describeCreditorIdProblem(textOf(id) ?? '');
  if (id === null || problem === null) return;
  findings.add('CREDITOR_ID_INVALID', id, `The creditor identifier is not valid. ${problem}`);
}
