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
export class PartChecks implements MessageParts {
  readonly #options: PartChecksOptions;
  readonly #findings: MessageFindings;
  readonly #duplicates: ReturnType<typeof createDuplicates>;
  readonly #totals: ReturnType<typeof createTotalsCheck>;
  readonly #ibans = new FingerprintMap();
  #version: MessageVersion | null = null;
  /** Headers that are checked with the first payment, which may say by which rules. */
  #waiting: XmlElement[] = [];
  #payment: Payment | null = null;
  #payments = 0;
  /** By whose rules payments were judged. */
  readonly #schemes = new Set<Scheme>();
  /** Where the bank is that executes the last payment that was checked. */
  #country = '';

  constructor(options: PartChecksOptions) {
    this.#options = options;
    this.#findings = options.findings;
    this.#duplicates = createDuplicates(options.messageIds, options.findings);
    this.#totals = createTotalsCheck(options.findings);
  }

  openDocument({ name }: XmlElement, namespace: string): MessageVersion {
    this.#version = findVersion(namespace);
    if (name !== 'Document') throw new Refusal('WRONG_ROOT', `The root element is ${name}. It must be Document.`);
    return this.#version;
  }

  header(element: XmlElement): void {
    this.#totals.header(element);
    this.#waiting.push(element);
    if (this.#payments === 0) return;
    this.#checkWaiting();
    this.#findings.endPart();
  }

  openPayment(element: XmlElement): void {
    this.#payments += 1;
    this.#totals.openPayment();
    const executionDay = executionDayOf(element, this.#options.today);
    this.#payment = { element, isChecked: false, executionDay, reported: new Set() };
  }

  transaction(element: XmlElement, version: MessageVersion): void {
    const { banks, today, profile, report } = this.#options;
    const findings = this.#findings;
    if (this.#payment === null) return;
    const { element: payment, executionDay, reported } = this.#payment;
    this.#checkPaymentOnce(this.#payment, element, version);
    findings.scheme = schemeOf({ payment, transaction: element }, profile, version);
    this.#schemes.add(findings.scheme);
    const amount = this.#totals.transaction(element, version);
    checkAmount(amount, findings);
    checkTransaction(element, { findings, version, today });
    if (version.isDirectDebit) checkCommonElements(payment, element, { findings, reported });
    checkPayerAddress(payment, element, { findings, reported });
    this.#duplicates.checkTransaction(element, version.other, amount);
    checkSchemes(payment, element, { findings, banks, version });
    report?.checkTransaction(payment, element, findings);
    this.#checkPart(element, executionDay);
    findings.endPart();
  }

  closePayment(element: XmlElement, version: MessageVersion): void {
    if (this.#payment !== null) {
      this.#checkPaymentOnce(this.#payment, null, version);
      this.#totals.closePayment(element);
    }
    this.#findings.endPart();
  }

  closeMessage(element: XmlElement, { isDirectDebit }: MessageVersion): void {
    this.#checkWaiting();
    this.#totals.closeMessage();
    const header = this.#totals.groupHeader();
    const isSingle = this.#totals.ofMessage.count === 1 && !isDirectDebit;
    if (header !== null && isSingle && mustVerifyPayees(this.#country, this.#options.today)) {
      const message = 'A file with one payment cannot opt out of Verification of Payee. Compare the name before.';
      this.#findings.add('PAYEE_VERIFICATION', header, message);
    }
    this.#options.report?.checkRest(element, this.#findings);
    this.#findings.endPart();
    this.#findings.endMessage();
  }

  /** The rest of the message cannot be read. */
  abandon(): void {
    this.#totals.abandon();
  }

  summary() {
    const { size: ibans } = this.#ibans;
    const counts = { payments: this.#payments, totals: this.#totals.ofMessage, ibans };
    return { version: this.#version, ...counts, schemes: this.#schemes };
  }

  #checkWaiting(): void {
    for (const element of this.#waiting) {
      if (element === this.#totals.groupHeader()) this.#checkGroupHeader(element);
      this.#checkPart(element, this.#options.today);
    }
    this.#waiting = [];
  }

  #checkGroupHeader(element: XmlElement): void {
    const messageId = find(element, 'MsgId');
    this.#options.report?.checkMessage(messageId ?? element, this.#findings);
    this.#duplicates.checkMessage(messageId);
    if (find(element, 'CtrlSum') !== null) return;
    const text = 'The group header has no CtrlSum. Add the sum of all amounts.';
    this.#findings.add('CONTROL_SUM_MISSING', find(element, 'NbOfTxs') ?? element, text);
  }

  #checkPaymentOnce(checked: Payment, transaction: XmlElement | null, version: MessageVersion): void {
    if (checked.isChecked) return;
    checked.isChecked = true;
    const { element, executionDay } = checked;
    const { today, profile, report } = this.#options;
    const findings = this.#findings;
    findings.scheme = schemeOf({ payment: element, transaction }, profile, version);
    this.#checkWaiting();
    this.#country = ibanOf(find(element, `${version.own}Acct`)).slice(0, 2);
    const end = findVersionEnd(version.name, this.#country);
    if (end !== null) {
      const code = executionDay >= end.date ? 'VERSION_ENDED' : 'VERSION_ENDS';
      const text = `${end.by} do not accept ${version.name} from ${end.date}. Send the version of 2019 (${end.source}).`;
      findings.addSummary(code, element.parent ?? element, () => text, end.by);
    }
    report?.checkPayment(element, findings);
    this.#duplicates.checkPayment(find(element, 'PmtInfId'));
    checkPayment(element, { findings, version, today });
    this.#checkPart(element, executionDay);
  }

  /** Checks each element of a part. @param day ISO 8601 */
  #checkPart(element: XmlElement, day: string): void {
    const { banks } = this.#options;
    this.#findings.day = day;
    checkElements(element, { findings: this.#findings, ibans: this.#ibans, banks });
    checkBics(element, this.#findings, banks);
  }
}

/** Whether banks of a country must compare the names of payees: Regulation (EU) 2024/886. @param day ISO 8601 */
function mustVerifyPayees(country: string, day: string): boolean {
  return (euroArea.has(country) && day >= '2025-10-09') || (otherEuCountries.has(country) && day >= '2027-07-09');
}
