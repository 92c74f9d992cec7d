import { isoDateOf } from '../../base/calendar-period.ts';
import type { Answers } from '../answers/answers.ts';
import { type MessageFinding, Refusal, type Scheme } from '../finding.ts';
import { FingerprintMap } from '../fingerprints.ts';
import { checkBics, checkForeignTransfer, checkSchemes } from './check-banks.ts';
import { checkElements } from './check-elements.ts';
import { checkPayment, checkTransaction, executionDayOf } from './check-payment.ts';
import { compareWithSchemas } from './check-schema.ts';
import { checkAmount, createTotalsCheck } from './check-totals.ts';
import { decodeXml } from './decode-xml.ts';
import { createDuplicates } from './duplicates.ts';
import { find, ibanOf, type XmlElement, xpathOf } from './elements.ts';
import { type CheckContext, MessageFindings } from './findings.ts';
import { findVersion, findVersionEnd, type MessageVersion } from './message-versions.ts';
import { euroArea, otherEuCountries, type Profile, schemeOf } from './profiles.ts';
import { type MessageParts, MessageReader } from './read-message.ts';
import type { StatusReport } from './status-report.ts';
import { printUnits } from './values.ts';

interface PartChecksOptions extends Pick<CheckContext, 'banks'>, Partial<Pick<CheckContext, 'today'>> {
  /** Identifications of messages that were checked before; that of this message is added. */
  messageIds: Set<string>;
  /** Without it, payments are judged by the rules that each says that it follows. */
  profile?: Profile;
  /** What a bank says about the message; null without a report. */
  report?: StatusReport | null;
}

interface MessageCheckOptions extends PartChecksOptions {
  /** The IBANs that are well-formed are looked up. A rejection ends the check. */
  answers: Pick<Answers, 'find'>;
  /** A larger file is refused. */
  maxBytes?: number;
  /** Findings that wait for answers while the message is read on: their transactions are in memory. */
  maxWaiting?: number;
}

export type MessageSummary = ReturnType<ReturnType<typeof checkMessage>['summary']>;

/**
 * Checks a pain.001 or pain.008 message while it is read, in bounded memory. Findings are in the order of the message; those about
 * the totals of a payment or of the message follow its last transaction. A file that cannot be read, or must not be, ends with one
 * finding about it. Messages contain no IBAN, but suggestions may. Can be iterated once.
 */
export function checkMessage(chunks: AsyncIterable<Buffer>, options: MessageCheckOptions) {
  const { answers, profile = 'auto', maxBytes, maxWaiting = defaultMaxWaiting } = options;
  const findings = new MessageFindings(answers);
  const checks = new PartChecks(findings, options);
  const reader = new MessageReader(checks, compareWithSchemas(findings, profile));
  const found = { error: 0, warning: 0, hint: 0, others: 0 };
  /** The last transaction that was counted, by severity: the findings of one follow one another. */
  const counted = { error: '', warning: '', hint: '' };
  let isComplete = false;

  return {
    async *[Symbol.asyncIterator](): AsyncGenerator<MessageFinding> {
      for await (const finding of readMessage()) {
        countFinding(finding);
        yield finding;
      }
    },
    /** What was read up to now; of the whole message after the last finding. */
    summary: () => ({
      ...checks.summary(),
      /** Transactions with findings of each severity; and findings about batches and the whole message. */
      found: { ...found },
      /** Whether it was read to its end; false if the file was refused. */
      isComplete,
    }),
  };

  async function* readMessage(): AsyncGenerator<MessageFinding> {
    try {
      for await (const piece of decodeXml(chunks, { maxBytes, onEncoding })) {
        reader.write(piece);
        yield* findings.take(() => findings.waiting() > maxWaiting);
      }
      reader.end();
      isComplete = true;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      checks.abandon();
      const { line, element } = reader.position();
      const lineOfCause = error.code === 'NOT_XML' ? 1 : (error.line ?? line);
      findings.addLast(error.code, { line: lineOfCause, xpath: element ? xpathOf(element) : '/' }, error.message);
    }
    yield* findings.take(() => true);
  }

  function countFinding({ place, severity, about }: MessageFinding): void {
    if (about?.payee == null) {
      found.others += 1;
      return;
    }
    const [transaction = ''] = /^.*TxInf\[\d+\]/.exec(place.xpath) ?? [];
    if (transaction !== counted[severity]) found[severity] += 1;
    counted[severity] = transaction;
  }

  function onEncoding(encoding: string): void {
    if (encoding === 'utf-8') return;
    const message = `The file is in ${encoding.toUpperCase()}. Save it in UTF-8, unless the bank agreed to another encoding.`;
    findings.addLast('ENCODING_NOT_UTF8', { line: 1, xpath: '/' }, message);
  }
}

/** Two full lists of a gateway. */
const defaultMaxWaiting = 5_000;

/** Checks the parts of a message as they are read. */
export class PartChecks implements MessageParts {
  readonly #context: CheckContext;
  readonly #profile: Profile;
  readonly #report: StatusReport | null;
  readonly #duplicates: ReturnType<typeof createDuplicates>;
  readonly #totals: ReturnType<typeof createTotalsCheck>;
  /** How many transactions were judged by the rules of each. */
  readonly #schemes = new Map<Scheme, number>();
  #message: string | null = null;
  /** Headers that are checked with the first payment, which may say by which rules. */
  #waiting: XmlElement[] = [];
  #payments = 0;
  /** Whether the payment was checked without its transactions: its first transaction may say by which rules. */
  #isPaymentChecked = false;
  /** ISO 8601. */
  #executionDay = '';
  /** Where the bank is that executes the last payment that was checked. */
  #country = '';

  constructor(
    findings: MessageFindings,
    { banks, messageIds, today = isoDateOf(), profile = 'auto', report = null }: PartChecksOptions,
  ) {
    this.#context = { findings, banks, today, ibans: new FingerprintMap(), reported: new Set() };
    this.#profile = profile;
    this.#report = report;
    this.#duplicates = createDuplicates(messageIds, findings);
    this.#totals = createTotalsCheck(findings);
  }

  findVersion(namespace: string): MessageVersion {
    const version = findVersion(namespace);
    this.#message = version.name;
    return version;
  }

  header(element: XmlElement): void {
    this.#totals.header(element);
    this.#waiting.push(element);
    if (this.#payments === 0) return;
    this.#checkWaiting();
    this.#context.findings.endPart();
  }

  openPayment(payment: XmlElement): void {
    this.#payments += 1;
    this.#isPaymentChecked = false;
    this.#executionDay = executionDayOf(payment, this.#context.today);
    this.#context.reported.clear();
    this.#totals.openPayment();
  }

  transaction(transaction: XmlElement, version: MessageVersion): void {
    const { findings } = this.#context;
    if (transaction.parent !== null) this.#checkPaymentOnce(transaction.parent, transaction, version);
    findings.scheme = schemeOf(transaction.parent, transaction, this.#profile, version);
    this.#schemes.set(findings.scheme, (this.#schemes.get(findings.scheme) ?? 0) + 1);
    if (this.#profile === 'auto') findings.addSummary('RULES_NOT_CHECKED', transaction, 'payment', notChecked);
    const amount = this.#totals.transaction(transaction, version);
    checkAmount(amount, findings);
    checkTransaction(transaction, version, this.#context);
    checkForeignTransfer(transaction, findings);
    this.#duplicates.checkTransaction(transaction, version.other, amount);
    checkSchemes(transaction, version, this.#context);
    this.#report?.checkTransaction(transaction, findings);
    this.#checkPart(transaction, this.#executionDay);
    findings.endPart();
  }

  closePayment(payment: XmlElement, version: MessageVersion): void {
    this.#checkPaymentOnce(payment, null, version);
    this.#totals.closePayment(payment);
    this.#context.findings.endPart();
  }

  closeMessage(message: XmlElement, { isDirectDebit }: MessageVersion): void {
    this.#checkWaiting();
    this.#totals.closeMessage();
    const isSingle = this.#totals.ofMessage.count === 1 && !isDirectDebit;
    if (isSingle && mustVerifyPayees(this.#country, this.#context.today)) {
      const text =
        'The bank compares the name of the payee with the account holder, as it must for a single payment. Write it as the account has it.';
      this.#context.findings.add('PAYEE_VERIFICATION', this.#totals.groupHeader(), text);
    }
    this.#report?.checkRest(message, this.#context.findings);
    this.#context.findings.endPart();
    this.#context.findings.endMessage();
  }

  /** The rest of the message cannot be read. */
  abandon(): void {
    this.#totals.abandon();
  }

  summary() {
    const { count, sums } = this.#totals.ofMessage;
    return {
      /** Such as pain.001.001.09; null if it is not a message that is checked. */
      message: this.#message,
      payments: this.#payments,
      transactions: count,
      /** Different well-formed IBANs. */
      ibans: this.#context.ibans.size,
      /** By whose rules how many transactions were judged. */
      rules: [...this.#schemes].map(([scheme, transactions]) => ({ scheme, transactions })),
      /** Of all amounts that could be read, by currency, such as 12.50. */
      sums: [...sums].map(([currency, units]) => ({ currency, sum: printUnits(units) })),
    };
  }

  #checkWaiting(): void {
    for (const element of this.#waiting) {
      if (element === this.#totals.groupHeader()) this.#checkGroupHeader(element);
      this.#checkPart(element, this.#context.today);
    }
    this.#waiting = [];
  }

  #checkGroupHeader(element: XmlElement): void {
    const messageId = find(element, 'MsgId');
    this.#report?.checkMessage(messageId ?? element, this.#context.findings);
    this.#duplicates.checkMessage(messageId);
    if (find(element, 'CtrlSum') !== null) return;
    const text = 'The group header has no CtrlSum. Add the sum of all amounts.';
    this.#context.findings.add('CONTROL_SUM_MISSING', find(element, 'NbOfTxs') ?? element, text);
  }

  #checkPaymentOnce(payment: XmlElement, transaction: XmlElement | null, version: MessageVersion): void {
    if (this.#isPaymentChecked) return;
    this.#isPaymentChecked = true;
    const { findings } = this.#context;
    findings.scheme = schemeOf(payment, transaction, this.#profile, version);
    this.#checkWaiting();
    this.#country = ibanOf(find(payment, `${version.own}Acct`)).slice(0, 2);
    const end = findVersionEnd(version.name, this.#country);
    if (end !== null) {
      const code = this.#executionDay >= end.date ? 'VERSION_ENDED' : 'VERSION_ENDS';
      const advice = version.edition === 2009 ? 'ledgerquill check --renovate writes' : 'Send';
      const text = `${end.by} do not accept ${version.name} from ${end.date} (${end.source}). ${advice} the version of 2019.`;
      findings.addSummary(code, payment.parent ?? payment, null, text);
    }
    this.#report?.checkPayment(payment, findings);
    this.#duplicates.checkPayment(find(payment, 'PmtInfId'));
    checkPayment(payment, version, this.#context);
    this.#checkPart(payment, this.#executionDay);
  }

  /** Checks each element of a part. @param day ISO 8601 */
  #checkPart(part: XmlElement, day: string): void {
    this.#context.findings.day = day;
    checkElements(part, this.#context);
    checkBics(part, this.#context);
  }
}

const notChecked =
  'outside SEPA, for which no rules of a bank are known here. Ask the bank, or choose the profile iso.';

/** Whether banks of a country must compare the names of payees: Regulation (EU) 2024/886. @param day ISO 8601 */
function mustVerifyPayees(country: string, day: string): boolean {
  return (euroArea.has(country) && day >= '2025-10-09') || (otherEuCountries.has(country) && day >= '2027-07-09');
}
