import { countOf } from '../../base/process/terminal.ts';
import { noSchemaCheck } from './check-schema.ts';
import { decodeXml } from './decode-xml.ts';
import { find, findAll, textOf, type XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';
import { findReportVersion } from './message-versions.ts';
import { createMessageReader } from './read-message.ts';
import type { RuleCode } from './rules.ts';

/** What a bank says about a message, one of its payments, or one of their transactions. */
interface ReportedStatus {
  paymentId: string | null;
  status: string | null;
  reasons: readonly string[];
  /** The name that the bank of the payee knows; null if it says none. */
  name: string | null;
}

/** A pain.002, by which the elements of the message that was sent are judged. */
export interface StatusReport {
  checkMessage(messageId: XmlElement, findings: MessageFindings): void;
  checkPayment(payment: XmlElement, findings: MessageFindings): void;
  checkTransaction(payment: XmlElement, transaction: XmlElement, findings: MessageFindings): void;
  /** @param message of which all transactions were checked */
  checkRest(message: XmlElement, findings: MessageFindings): void;
}

/** @throws Refusal if it is not a report, or cannot be read */
export async function readStatusReport(chunks: AsyncIterable<Buffer>): Promise<StatusReport> {
  /** Those that the message was not found to have, by payment. */
  const byPayment = new Map<string, ReportedStatus[]>();
  const byId = new Map<string, ReportedStatus[]>();
  let group: ReportedStatus | null = null;
  let messageId: string | null = null;
  let unmatched = 0;

  const reader = createMessageReader(
    {
      openDocument: (_, namespace) => findReportVersion(namespace),
      header(element) {
        if (element.name !== 'OrgnlGrpInfAndSts') return;
        messageId = textOf(find(element, 'OrgnlMsgId'));
        group = readStatus(element, 'GrpSts', null);
      },
      openPayment(element) {
        const id = textOf(find(element, 'OrgnlPmtInfId')) ?? '';
        byPayment.set(id, [...(byPayment.get(id) ?? []), readStatus(element, 'PmtInfSts', id)]);
      },
      transaction(element) {
        const [id] = keysOf(element, 'Orgnl');
        const status = readStatus(element, 'TxSts', textOf(find(element.parent, 'OrgnlPmtInfId')));
        // Many transactions have no identification. That they were accepted is nothing to report.
        if (id === undefined && judge(status) === null) return;
        unmatched += 1;
        if (id !== undefined) byId.set(id, [...(byId.get(id) ?? []), status]);
      },
      closePayment() {},
      closeMessage() {},
    },
    noSchemaCheck,
  );
  for await (const piece of decodeXml(chunks, { maxBytes: maxReportBytes, onEncoding() {} })) reader.write(piece);
  reader.end();

  return {
    checkMessage(element, findings) {
      if (messageId !== null && messageId !== textOf(element)) {
        const message = 'The report is about a message with another MsgId. Give the report about this one.';
        findings.add('REPORT_OF_OTHER_MESSAGE', element, message);
      } else if (group !== null) report(group, element, findings);
    },
    checkPayment(payment, findings) {
      const id = textOf(find(payment, 'PmtInfId')) ?? '';
      for (const status of byPayment.get(id) ?? []) report(status, payment, findings);
      byPayment.delete(id);
    },
    checkTransaction(payment, transaction, findings) {
      const paymentId = textOf(find(payment, 'PmtInfId'));
      for (const key of keysOf(transaction, '')) {
        const statuses = byId.get(key) ?? [];
        const index = statuses.findIndex((each) => each.paymentId === null || each.paymentId === paymentId);
        const [found] = index < 0 ? [] : statuses.splice(index, 1);
        if (found === undefined) continue;
        unmatched -= 1;
        report(found, transaction, findings);
        return;
      }
    },
    checkRest(message, findings) {
      const payments = [...byPayment.values()].flat().filter((status) => judge(status) !== null).length;
      for (const [count, noun] of [
        [payments, 'payment'],
        [unmatched, 'transaction'],
      ] as const) {
        if (count === 0) continue;
        const text = `The report has ${countOf(count, noun)} that the message does not have, by their identifications.`;
        findings.add('REPORT_NOT_MATCHED', message, text);
      }
    },
  };
}

/** A report repeats what was sent, so it is as large. */
const maxReportBytes = 1_000_000_000;

/** The first of these identifications that a transaction has is that by which it is found. */
function keysOf(transaction: XmlElement, prefix: '' | 'Orgnl'): readonly string[] {
  const parent = prefix === '' ? find(transaction, 'PmtId') : transaction;
  return ['UETR', 'InstrId', 'EndToEndId'].flatMap((name) => {
    const text = textOf(find(parent, `${prefix}${name}`));
    return text === null || text === 'NOTPROVIDED' ? [] : [`${name} ${text}`];
  });
}

function readStatus(element: XmlElement, statusName: string, paymentId: string | null): ReportedStatus {
  const information = findAll(element, 'StsRsnInf');
  const reasons = information.flatMap(
    (each) => textOf(find(each, 'Rsn', 'Cd')) ?? textOf(find(each, 'Rsn', 'Prtry')) ?? [],
  );
  const additional = information
    .flatMap((each) => findAll(each, 'AddtlInf'))
    .map(textOf)
    .filter((text) => text !== null);
  return { paymentId, status: textOf(find(element, statusName)), reasons, name: additional.join(' ') || null };
}

function report(status: ReportedStatus, element: XmlElement, findings: MessageFindings): void {
  const problem = judge(status);
  if (problem !== null) findings.add(problem.code, element, problem.message, problem.suggestion);
}

/** The status of Verification of Payee, or of the payment; null for what was accepted. */
function judge({ status, reasons, name }: ReportedStatus) {
  const create = (code: RuleCode, message: string, suggestion: string | null = null) => ({ code, message, suggestion });
  if (status === 'RJCT' || status === 'CANC') {
    const because = reasons.length === 0 ? 'without a reason' : reasons.map(describeReason).join('; ');
    return create('BANK_REJECTED', `The bank has rejected it (${status}): ${because}.`);
  }
  if (status === 'RVMC' || status === 'RVNM') {
    const almost = status === 'RVMC' ? 'is almost, but not exactly,' : 'is not';
    const message = `The name ${almost} that of the account holder (${status}). Ask the payee for it.`;
    return create('PAYEE_NAME_DIFFERS', message, status === 'RVMC' ? name : null);
  }
  if (status !== 'RVNA' && status !== 'RVNC') return null;
  return create('PAYEE_NOT_VERIFIED', `The name could not be compared with the account holder (${status}).`);
}

/** A reason of ISO's external code list in words; other codes as they are. */
function describeReason(code: string): string {
  const words = reasons.get(code);
  const printed = /^[A-Z0-9]{1,10}$/.test(code) ? code : 'a reason of the bank';
  return words === undefined ? printed : `${words} (${code})`;
}

const reasons: ReadonlyMap<string, string> = new Map(
  `
  AB05 time-out at the bank of the creditor
  AB06 time-out of an instant payment
  AB08 the bank of the creditor is offline
  AC01 wrong account number
  AC02 wrong account number of the debtor
  AC03 wrong account number of the creditor
  AC04 the account is closed
  AC06 the account is blocked
  AC13 the debtor is a consumer, for whom the scheme is not allowed
  AG01 the account does not allow this kind of payment
  AG02 wrong kind of payment
  AG03 the payment is not supported
  AM01 the amount is zero
  AM02 the amount is not allowed
  AM03 the currency is not allowed
  AM04 insufficient funds
  AM05 duplicate
  AM09 wrong amount
  AM10 wrong control sum
  AM12 the amount cannot be read
  BE01 the party is not the account holder
  BE04 the address of the creditor is missing or wrong
  BE05 the initiating party is not known
  BE07 the address of the debtor is missing or wrong
  CNOR the bank of the creditor is not known
  CURR wrong currency
  CUST requested by the customer
  DNOR the bank of the debtor is not known
  DT01 wrong date
  DT02 wrong creation date
  DU01 MsgId is not unique
  DU02 PmtInfId is not unique
  DU03 the transaction is not unique
  DU04 EndToEndId is not unique
  DUPL duplicate
  ED05 settlement failed
  FF01 wrong format of the file
  FF03 wrong payment type
  FF05 wrong local instrument
  FOCR after a request for a recall
  MD01 no valid mandate
  MD02 the mandate is not complete
  MD06 refund, as requested by the debtor
  MD07 the debtor is deceased
  MS02 no reason, by the customer
  MS03 no reason, by the bank
  NARR in a text of the bank
  NOAS no answer of the customer
  RC01 wrong BIC
  RR01 the account or identification of the debtor is missing
  RR02 the name or address of the debtor is missing
  RR03 the name or address of the creditor is missing
  RR04 regulatory reason
  SL01 a service of the bank of the debtor
  TM01 after the cut-off time
  `
    .trim()
    .split('\n')
    .map((line) => line.trim())
    .map((line) => [line.slice(0, 4), line.slice(5)]),
);
