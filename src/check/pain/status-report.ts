import { noSchemaCheck } from './check-schema.ts';
import { decodeXml } from './decode-xml.ts';
import { find, findAll, textOf, type XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';
import { findReportVersion } from './message-versions.ts';
import { createMessageReader } from './read-message.ts';
import { describeReason } from './status-reasons.ts';

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
export async function readStatusReport(chunks: AsyncIterable<Uint8Array>): Promise<StatusReport> {
  const byPayment = new Map<string, ReportedStatus>();
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
        const id = textOf(find(element, 'OrgnlPmtInfId'));
        if (id !== null) byPayment.set(id, readStatus(element, 'PmtInfSts', id));
      },
      transaction(element) {
        const id = keysOf(element, 'Orgnl')[0];
        if (id === undefined) return;
        const status = readStatus(element, 'TxSts', textOf(find(element.parent, 'OrgnlPmtInfId')));
        byId.set(id, [...(byId.get(id) ?? []), status]);
        unmatched += 1;
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
      } else report(group, element, findings);
    },
    checkPayment(payment, findings) {
      report(byPayment.get(textOf(find(payment, 'PmtInfId')) ?? '') ?? null, payment, findings);
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
      if (unmatched <= 0) return;
      const text = `The report has ${unmatched} transactions that the message does not have, by their identifications.`;
      findings.add('REPORT_NOT_MATCHED', message, text);
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

/** The status of Verification of Payee, or of the payment. What was accepted has no finding. */
function report(reported: ReportedStatus | null, element: XmlElement, findings: MessageFindings): void {
  if (reported === null || reported.status === null) return;
  const { status, reasons, name } = reported;
  if (status === 'RJCT' || status === 'CANC') {
    const because = reasons.length === 0 ? 'without a reason' : reasons.map(describeReason).join('; ');
    findings.add('BANK_REJECTED', element, `The bank has rejected it (${status}): ${because}.`);
  } else if (status === 'RVMC' || status === 'RVNM') {
    const almost = status === 'RVMC' ? 'is almost, but not exactly,' : 'is not';
    const message = `The name ${almost} that of the account holder (${status}). Ask the payee for it.`;
    findings.add('PAYEE_NAME_DIFFERS', element, message, status === 'RVMC' ? name : null);
  } else if (status === 'RVNA' || status === 'RVNC') {
    findings.add('PAYEE_NOT_VERIFIED', element, `The name could not be compared with the account holder (${status}).`);
  }
}
