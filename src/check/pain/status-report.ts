import { groupBy } from '../../base/group-by.ts';
import { countOf } from '../../base/process/terminal.ts';
import { redactIbans } from '../../base/redact.ts';
import { maskIban } from '../../iban/iban.ts';
import { type BankProblem, isSaidOfParts, judgeStatus, missingStatus } from './bank-statuses.ts';
import { noSchemaCheck } from './check-schema.ts';
import { decodeXml } from './decode-xml.ts';
import { find, ibanOf, idOf, textOf, type XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';
import { findReportVersion } from './message-versions.ts';
import { findAmount } from './profiles.ts';
import { MessageReader } from './read-message.ts';
import type { RuleCode } from './rules.ts';
import { toSepaCharacters } from './sepa-characters.ts';
import { parseDecimal } from './values.ts';

/** A pain.002, by which the elements of the message that was sent are judged, once. */
export type StatusReport = ReturnType<typeof createReport>;

/** What a bank says about a message, one of its payments, or one of their transactions. */
interface ReportedStatus {
  /** Null if it has none. */
  status: string | null;
  /** Null: accepted. */
  problem: BankProblem | null;
  paymentId: string | null;
  /** Those of a transaction, in the order of `idNames`; null if unknown. */
  ids: readonly (string | null)[];
  /** What the report repeats of a transaction without them. */
  original: XmlElement | null;
  /** The problems of its parts; null: it has none. */
  parts: Set<RuleCode> | null;
}

/** The first one that a report has is that by which it is found. */
const idNames = ['EndToEndId', 'InstrId', 'UETR'] as const;

/** @throws Refusal if it is not a report, or cannot be read */
export async function readStatusReport(chunks: AsyncIterable<Buffer>): Promise<StatusReport> {
  const payments = new Set<ReportedStatus>();
  const transactions = new Set<ReportedStatus>();
  let messageId: string | null = null;
  const message = createStatus(null);
  let payment = message;

  const addPart = (whole: ReportedStatus, { problem }: ReportedStatus) => {
    whole.parts ??= new Set();
    if (problem !== null) whole.parts.add(problem.code);
  };
  const reader = new MessageReader(
    {
      openDocument: (_, namespace) => findReportVersion(namespace),
      header(element) {
        if (element.name !== 'OrgnlGrpInfAndSts') return;
        messageId = textOf(find(element, 'OrgnlMsgId'));
        Object.assign(message, readStatus(element, 'GrpSts'));
      },
      openPayment(element) {
        payment = Object.assign(createStatus(idOf(find(element, 'OrgnlPmtInfId'))), readStatus(element, 'PmtInfSts'));
        payments.add(payment);
        addPart(message, payment);
      },
      transaction(element) {
        const transaction = Object.assign(createStatus(payment.paymentId), readStatus(element, 'TxSts'));
        if (transaction.status === null) transaction.problem = missingStatus;
        transaction.ids = readIds(element, 'Orgnl');
        const isIdentified = transaction.ids.some((id) => id !== null);
        if (!isIdentified) transaction.original = find(element, 'OrgnlTxRef');
        for (const whole of [payment, message]) addPart(whole, transaction);
        // Many transactions have no identification. That they were accepted is nothing to report.
        if (isIdentified || transaction.problem !== null) transactions.add(transaction);
      },
      closePayment() {},
      closeMessage() {},
    },
    noSchemaCheck,
  );
  for await (const piece of decodeXml(chunks, { maxBytes: maxReportBytes, onEncoding() {} })) reader.write(piece);
  reader.end();
  if (message.parts === null && message.status === null) message.problem = missingStatus;
  for (const status of payments) {
    if (status.parts === null && status.status === null && message.status === null) status.problem = missingStatus;
  }
  return createReport({ messageId, message, payments, transactions });
}

/** A report repeats what was sent, so it is as large. */
const maxReportBytes = 1_000_000_000;

function createStatus(paymentId: string | null): ReportedStatus {
  return { status: null, problem: null, paymentId, ids: [], original: null, parts: null };
}

/** One that is missing, unlike an empty one, may be that of the whole or of the parts. */
function readStatus(element: XmlElement, name: string): Pick<ReportedStatus, 'status' | 'problem'> {
  const given = find(element, name);
  const status = textOf(given);
  return { status, problem: given === null ? null : judgeStatus(status, element) };
}

function readIds(element: XmlElement | null, prefix: '' | 'Orgnl'): readonly (string | null)[] {
  return idNames.map((name) => idOf(find(element, `${prefix}${name}`)));
}

interface Reported {
  messageId: string | null;
  message: ReportedStatus;
  /** Those that are found in the message are removed. */
  payments: Set<ReportedStatus>;
  transactions: Set<ReportedStatus>;
}

function createReport({ messageId, message, payments, transactions }: Reported) {
  const findStatus = indexStatuses(transactions);
  const byPayment = groupBy(payments, ({ paymentId }) => paymentId ?? '');
  /** Null until the message was compared. */
  let isOfMessage: boolean | null = null;
  /** The first transaction of the message. */
  let first: { paymentId: string | null; element: XmlElement } | null = null;
  let checked = 0;

  const compare = (id: string | null, element: XmlElement, findings: MessageFindings) => {
    isOfMessage = messageId !== null && messageId === id;
    if (isOfMessage) return report(message, element, findings);
    const fact = messageId === null ? 'does not say its OrgnlMsgId' : 'is about a message with another MsgId';
    const text = `The report ${fact}, so it is not used. Give the report about this one.`;
    findings.add('REPORT_OF_OTHER_MESSAGE', element, text);
  };

  return {
    /** @param id its header without one */
    checkMessage: (id: XmlElement, findings: MessageFindings) => compare(textOf(id), id, findings),
    checkPayment(element: XmlElement, findings: MessageFindings): void {
      if (!isOfMessage) return;
      const id = textOf(find(element, 'PmtInfId')) ?? '';
      for (const status of byPayment.get(id) ?? []) {
        if (payments.delete(status)) report(status, element, findings);
      }
      byPayment.delete(id);
    },
    checkTransaction(payment: XmlElement, element: XmlElement, findings: MessageFindings): void {
      if (!isOfMessage) return;
      const paymentId = textOf(find(payment, 'PmtInfId'));
      const ids = readIds(find(element, 'PmtId'), '');
      checked += 1;
      first ??= { paymentId, element };
      const found = findStatus([...ids, paymentId]);
      if (found === null) return;
      transactions.delete(found);
      report(found, element, findings);
    },
    /** @param element the message, of which all transactions were checked */
    checkRest(element: XmlElement, findings: MessageFindings): void {
      if (isOfMessage === null) compare(null, element, findings);
      if (!isOfMessage) return;
      for (const status of transactions) {
        if (first === null || checked > 1 || !isOfPayment(status, first.paymentId)) continue;
        if (status.original === null || !agrees(status.original, first.element)) continue;
        transactions.delete(status);
        report(status, first.element, findings);
      }
      reportRest(payments, 'payment', element, findings);
      reportRest(transactions, 'transaction', element, findings);
    },
  };
}

function keysOf(ids: readonly (string | null)[]): readonly string[] {
  return ids.flatMap((id, index) => (id === null ? [] : [`${idNames[index]} ${id}`]));
}

function isOfPayment({ paymentId }: ReportedStatus, id: string | null): boolean {
  return paymentId === null || paymentId === id;
}

/**
 * Finds what is said of a transaction by its identifications and that of its payment, without a comparison with all: the first of
 * `idNames` that the report has must be equal, and none may differ. Banks leave some out, and add a UETR.
 * @param statuses those that are found are removed from it
 */
function indexStatuses(statuses: ReadonlySet<ReportedStatus>) {
  const idsOf = ({ ids, paymentId }: ReportedStatus) => [...ids, paymentId];
  const maskOf = (ids: readonly (string | null)[]) =>
    ids.reduce((mask, id, index) => (id === null ? mask : mask | (1 << index)), 0);
  const keyOf = (ids: readonly (string | null)[], mask: number) =>
    JSON.stringify(ids.filter((_, index) => (mask & (1 << index)) !== 0));
  const firstOf = (mask: number) => mask & -mask;
  const identified = [...statuses].filter(({ ids }) => ids.some((id) => id !== null)).reverse();
  const byMask = groupBy(identified, (status) => maskOf(idsOf(status)));
  /** By what statuses have, and what they share with a transaction; the first one of the report is the last one. */
  const indexes = new Map<string, Map<string, ReportedStatus[]>>();

  return (ids: readonly (string | null)[]): ReportedStatus | null => {
    const found = [...byMask].flatMap(([mask, all]) => {
      const shared = mask & maskOf(ids);
      if (firstOf(shared) !== firstOf(mask)) return [];
      const name = `${mask} ${shared}`;
      const index = indexes.get(name) ?? groupBy(all, (status) => keyOf(idsOf(status), shared));
      indexes.set(name, index);
      const queue = index.get(keyOf(ids, shared)) ?? [];
      while (queue.length > 0 && !statuses.has(queue.at(-1) as ReportedStatus)) queue.pop();
      return queue.slice(-1).map((status) => ({ status, shared }));
    });
    const [best] = found.sort((one, other) => firstOf(one.shared) - firstOf(other.shared) || other.shared - one.shared);
    return best?.status ?? null;
  };
}

/** Whether what a report repeats of a transaction is that of this one: its amount, or the other party with its IBAN, and nothing else. */
function agrees(original: XmlElement, transaction: XmlElement): boolean {
  const isDirectDebit = transaction.name === 'DrctDbtTxInf';
  const other = isDirectDebit ? 'Dbtr' : 'Cdtr';
  const facts = (element: XmlElement, party: XmlElement | null, amount: XmlElement | null) => {
    const name = textOf(find(party, 'Nm'));
    const units = parseDecimal(textOf(amount) ?? '')?.units;
    return {
      name: name && (toSepaCharacters(name) ?? name).toUpperCase(),
      iban: ibanOf(find(element, `${other}Acct`)) || null,
      amount: units === undefined ? null : `${amount?.attributes.Ccy} ${units}`,
    };
  };
  const party = find(original, other);
  const said = facts(original, find(party, 'Pty') ?? party, find(original, 'Amt', 'InstdAmt'));
  const sent = facts(transaction, find(transaction, other), findAmount(transaction, isDirectDebit));
  const differs = (name: keyof typeof said) => said[name] !== null && said[name] !== sent[name];
  if (differs('name') || differs('iban') || differs('amount')) return false;
  return said.amount !== null || (said.name !== null && said.iban !== null);
}

function report({ status, problem, parts }: ReportedStatus, element: XmlElement, findings: MessageFindings): void {
  if (problem === null || (parts !== null && isSaidOfParts(status, parts))) return;
  findings.add(problem.code, element, problem.message, problem.suggestion);
}

/** What was not found in the message. */
function reportRest(
  statuses: Iterable<ReportedStatus>,
  noun: 'payment' | 'transaction',
  element: XmlElement,
  findings: MessageFindings,
): void {
  let accepted = 0;
  for (const each of statuses) {
    if (each.problem === null) {
      accepted += 1;
      continue;
    }
    const { message } = each.problem;
    const text = `${message} The message has no such ${noun}, or not so often: ${describe(each)}.`;
    report({ ...each, problem: { ...each.problem, message: text } }, element, findings);
  }
  if (accepted === 0) return;
  const text = `The report has ${countOf(accepted, noun)} that the message does not have, by their identifications.`;
  findings.add('REPORT_NOT_MATCHED', element, text);
}

/** All that the report says of where it belongs, with masked IBANs. */
function describe({ paymentId, ids, original }: ReportedStatus): string {
  const amount = find(original, 'Amt', 'InstdAmt');
  const ibans = [find(original, 'CdtrAcct'), find(original, 'DbtrAcct')].map(ibanOf).filter((iban) => iban !== '');
  const known = [
    ...keysOf(ids),
    ...ibans.slice(0, 1).map((iban) => `IBAN ${maskIban(iban)}`),
    ...(amount === null ? [] : [`${amount.attributes.Ccy} ${textOf(amount)}`]),
    ...(paymentId === null ? [] : [`PmtInfId ${paymentId}`]),
  ].map((text) => (/^[ -~]{1,60}$/.test(text) ? redactIbans(text) : 'an identification that cannot be printed'));
  return known.join(', ') || 'without an identification';
}
