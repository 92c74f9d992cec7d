import type { BankFacts } from '../bank-facts.ts';
import { FingerprintMap } from '../fingerprints.ts';
import { checkBics, checkSchemes } from './check-banks.ts';
import { checkElements } from './check-elements.ts';
import {
  checkCommonElements,
  checkPayerAddress,
  checkPayment,
  checkTransaction,
  executionDayOf,
} from './check-payment.ts';
import { checkAmount, createTotalsCheck } from './check-totals.ts';
import { createDuplicates } from './duplicates.ts';
import { find, ibanOf, type XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';
import { findVersion, findVersionEnd, type MessageVersion } from './message-versions.ts';
import { euroArea, otherEuCountries, type Profile, schemeOf } from './profiles.ts';
import type { MessageParts } from './read-message.ts';
import { Refusal, type Scheme } from './rules.ts';
import type { StatusReport } from './status-report.ts';

interface PartChecksOptions {
  findings: MessageFindings;
  banks: BankFacts;
  /** ISO 8601, such as 2026-11-26. */
  today: string;
  /** Identifications of messages that were checked before; that of this message is added. */
  messageIds: Set<string>;
  profile: Profile;
  /** What a bank says about the message; null without a report. */
  report: StatusReport | null;
}

/** A payment whose transactions are being read. */
interface Payment {
  element: XmlElement;
  /** Whether it was checked without its transactions: its first transaction may say by which rules. */
  isChecked: boolean;
  /** ISO 8601. */
  executionDay: string;
  /** Paths of missing elements. */
  reported: Set<string>;
}

/** Checks the parts of a message as they are read. */
export function createPartChecks(options: PartChecksOptions) {
  const { findings, banks, today, messageIds, profile, report } = options;
  const duplicates = createDuplicates(messageIds, findings);
  const totals = createTotalsCheck(findings);
  const ibans = new FingerprintMap();
  let version: MessageVersion | null = null;
  /** Headers that are checked with the first payment, which may say by which rules. */
  let waiting: XmlElement[] = [];
  let payment: Payment | null = null;
  let payments = 0;
  /** By whose rules payments were judged. */
  const schemes = new Set<Scheme>();
  /** Where the bank is that executes the last payment that was checked. */
  let country = '';

  const parts: MessageParts = {
    openDocument({ name }, namespace) {
      version = findVersion(namespace);
      if (name !== 'Document') throw new Refusal('WRONG_ROOT', `The root element is ${name}. It must be Document.`);
      return version;
    },

    header(element) {
      totals.header(element);
      waiting.push(element);
      if (payments === 0) return;
      checkWaiting();
      findings.endPart();
    },

    openPayment(element) {
      payments += 1;
      totals.openPayment();
      payment = { element, isChecked: false, executionDay: executionDayOf(element, today), reported: new Set() };
    },

    transaction(element, of) {
      if (payment === null) return;
      checkPaymentOnce(payment, element, of);
      findings.scheme = schemeOf({ payment: payment.element, transaction: element }, profile, of);
      schemes.add(findings.scheme);
      const amount = totals.transaction(element, of);
      checkAmount(amount, findings);
      checkTransaction(element, { findings, version: of, today });
      if (of.isDirectDebit) checkCommonElements(payment.element, element, { findings, reported: payment.reported });
      checkPayerAddress(payment.element, element, { findings, reported: payment.reported });
      duplicates.checkTransaction(element, of.other, amount);
      checkSchemes(payment.element, element, { findings, banks, version: of });
      report?.checkTransaction(payment.element, element, findings);
      checkPart(element, payment.executionDay);
      findings.endPart();
    },

    closePayment(element, of) {
      if (payment !== null) {
        checkPaymentOnce(payment, null, of);
        totals.closePayment(element);
      }
      findings.endPart();
    },

    closeMessage(element, { isDirectDebit }) {
      checkWaiting();
      totals.closeMessage();
      const groupHeader = totals.groupHeader();
      if (groupHeader !== null && totals.ofMessage.count === 1 && !isDirectDebit && mustVerifyPayees(country, today)) {
        const message = 'A file with one payment cannot opt out of Verification of Payee. Compare the name before.';
        findings.add('PAYEE_VERIFICATION', groupHeader, message);
      }
      report?.checkRest(element, findings);
      findings.endPart();
      findings.endMessage();
    },
  };
  const summary = () => ({ version, payments, totals: totals.ofMessage, ibans: ibans.size, schemes });
  return { parts, summary, abandon: totals.abandon };

  function checkWaiting(): void {
    for (const element of waiting) {
      if (element === totals.groupHeader()) checkGroupHeader(element);
      checkPart(element, today);
    }
    waiting = [];
  }

  function checkGroupHeader(element: XmlElement): void {
    const messageId = find(element, 'MsgId');
    report?.checkMessage(messageId ?? element, findings);
    duplicates.checkMessage(messageId);
    if (find(element, 'CtrlSum') !== null) return;
    const text = 'The group header has no CtrlSum. Add the sum of all amounts.';
    findings.add('CONTROL_SUM_MISSING', find(element, 'NbOfTxs') ?? element, text);
  }

  function checkPaymentOnce(checked: Payment, transaction: XmlElement | null, of: MessageVersion): void {
    if (checked.isChecked) return;
    checked.isChecked = true;
    const { element } = checked;
    findings.scheme = schemeOf({ payment: element, transaction }, profile, of);
    checkWaiting();
    country = ibanOf(find(element, `${of.own}Acct`)).slice(0, 2);
    const end = findVersionEnd(of.name, country);
    if (end !== null) {
      const code = checked.executionDay >= end.date ? 'VERSION_ENDED' : 'VERSION_ENDS';
      const text = `${end.by} do not accept ${of.name} from ${end.date}. Send the version of 2019 (${end.source}).`;
      findings.addSummary(code, element.parent ?? element, () => text, end.by);
    }
    report?.checkPayment(element, findings);
    duplicates.checkPayment(find(element, 'PmtInfId'));
    checkPayment(element, { findings, version: of, today });
    checkPart(element, checked.executionDay);
  }

  /** Checks each element of a part. @param day ISO 8601 */
  function checkPart(element: XmlElement, day: string): void {
    findings.day = day;
    checkElements(element, { findings, ibans, banks });
    checkBics(element, findings, banks);
  }
}

/** Whether banks of a country must compare the names of payees: Regulation (EU) 2024/886. @param day ISO 8601 */
function mustVerifyPayees(country: string, day: string): boolean {
  return (euroArea.has(country) && day >= '2025-10-09') || (otherEuCountries.has(country) && day >= '2027-07-09');
}
