import { groupBy } from '../../base/group-by.ts';
import { count, countOf } from '../../base/process/terminal.ts';
import { redactIbans } from '../../base/redact.ts';
import { isValidIban, maskIban } from '../../iban/iban.ts';
import type { RuleCode } from '../finding.ts';
import { isSaidOfParts, judgeStatus, missingStatus } from './bank-statuses.ts';
import { decodeXml } from './decode-xml.ts';
import { find, ibanOf, idOf, textOf, type XmlElement } from './elements.ts';
import type { MessageFindings, Problem } from './findings.ts';
import { findReportVersion } from './message-versions.ts';
import { findAmount } from './profiles.ts';
import { MessageReader } from './read-message.ts';
import { toSepaCharacters } from './sepa-characters.ts';
import { parseDecimal, printUnits } from './values.ts';

/** A pain.002, by which the elements of the message that was sent are judged, once. */
export type StatusReport = ReturnType<typeof createReport>;

/** What a bank says about a message, one of its payments, or one of their transactions. */
interface ReportedStatus {
  /** Null if it has none. */
  status: string | null;
  /** Null: accepted. */
  problem: Problem | null;
  paymentId: string | null;
  /** Those of a transaction, in the order of `idNames`; null if unknown. */
  ids: readonly (string | null)[];
  /** What the report repeats of a transaction, by the party that may be the other one: the ids need not be unique, or are missing. */
  repeated: Readonly<Record<'Cdtr' | 'Dbtr', Facts>> | null;
  /** The problems of its parts; null: it has none. */
  parts: Set<RuleCode> | null;
}

/** The amount and the other party of a transaction; null if it is not said. */
interface Facts {
  name: string | null;
  iban: string | null;
  /** Such as EUR 100.00, however it is written. */
  amount: string | null;
}

/** The first one that a report has is that by which it is found. */
const idNames = ['EndToEndId', 'InstrId', 'UETR'] as const;

/** @throws Refusal if it is not a report, or cannot be read */
export async function readStatusReport(chunks: AsyncIterable<Buffer>): Promise<StatusReport> {
  const message: ReportedStatus = { ...noStatus };
  const [payments, transactions] = [new Set<ReportedStatus>(), new Set<ReportedStatus>()];
  const reported: Reported = { reportId: null, messageId: null, message, payments, transactions, unidentified: 0 };
  let payment = message;
  const addPart = (whole: ReportedStatus, { problem }: ReportedStatus) => {
    whole.parts ??= new Set();
    if (problem !== null) whole.parts.add(problem.code);
  };
  const reader = new MessageReader({
    findVersion: findReportVersion,
    header(element) {
      if (element.name === 'GrpHdr') reported.reportId = textOf(find(element, 'MsgId'));
      if (element.name !== 'OrgnlGrpInfAndSts') return;
      reported.messageId = textOf(find(element, 'OrgnlMsgId'));
      Object.assign(message, readStatus(element, 'GrpSts'));
    },
    openPayment(element) {
      payment = { ...noStatus, paymentId: idOf(find(element, 'OrgnlPmtInfId')), ...readStatus(element, 'PmtInfSts') };
      payments.add(payment);
      addPart(message, payment);
    },
    transaction(element) {
      const { paymentId } = payment;
      const ids = readIds(element, 'Orgnl');
      const isIdentified = ids.some((id) => id !== null);
      const original = find(element, 'OrgnlTxRef');
      const read = (other: 'Cdtr' | 'Dbtr') => readFacts(original, other, find(original, 'Amt', 'InstdAmt'));
      const repeated = original && { Cdtr: read('Cdtr'), Dbtr: read('Dbtr') };
      const transaction = { ...noStatus, paymentId, ids, repeated, ...readStatus(element, 'TxSts') };
      if (transaction.status === null) transaction.problem = judgeStatus(null, element);
      for (const whole of [payment, message]) addPart(whole, transaction);
      // Many transactions have no identification. That they were accepted is nothing to report.
      if (isIdentified || transaction.problem !== null) transactions.add(transaction);
      else reported.unidentified += 1;
    },
  });
  for await (const piece of decodeXml(chunks)) reader.write(piece);
  reader.end();
  if (message.parts === null && message.status === null) message.problem = missingStatus;
  for (const status of payments) {
    if (status.parts === null && status.status === null && message.status === null) status.problem = missingStatus;
  }
  return createReport(reported);
}

const noStatus: ReportedStatus = {
  ...{ status: null, problem: null, paymentId: null, ids: [], repeated: null, parts: null },
};

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
  reportId: string | null;
  messageId: string | null;
  message: ReportedStatus;
  /** Those that are found in the message are removed. */
  payments: Set<ReportedStatus>;
  transactions: Set<ReportedStatus>;
  /** Accepted transactions that have no identification. */
  unidentified: number;
}

function createReport(reported: Reported) {
  const { reportId, messageId, message, payments, transactions } = reported;
  const findStatus = indexStatuses(transactions);
  const byPayment = groupBy(payments, ({ paymentId }) => paymentId ?? '');
  /** Null until the message was compared. */
  let isOfMessage: boolean | null = null;
  let isRead = false;
  /** The first transaction of the message. */
  let first: XmlElement | null = null;
  let checked = 0;
  /** What is said of the payment of the transactions that follow. */
  let ofPayment: readonly ReportedStatus[] = [];
  const outcomes = new Map<string, number>();

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
      ofPayment = byPayment.get(id) ?? [];
      for (const status of ofPayment) {
        if (payments.delete(status)) report(status, element, findings);
      }
      byPayment.delete(id);
    },
    checkTransaction(element: XmlElement, findings: MessageFindings): void {
      if (!isOfMessage) return;
      const paymentId = textOf(find(element.parent, 'PmtInfId'));
      const ids = readIds(find(element, 'PmtId'), '');
      checked += 1;
      first ??= element;
      const found = findStatus([...ids, paymentId], element);
      const whole = ofPayment.find(({ status }) => status !== null) ?? message;
      const isCounted = found === null && whole.status === null && reported.unidentified > 0;
      if (isCounted) reported.unidentified -= 1;
      const outcome = isCounted ? 'accepted' : outcomeOf(found, whole);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      if (found === null) return;
      transactions.delete(found);
      report(found, element, findings);
    },
    /** @param element the message, of which all transactions were checked */
    checkRest(element: XmlElement, findings: MessageFindings): void {
      if (isOfMessage === null) compare(null, element, findings);
      if (!isOfMessage) return;
      for (const status of checked === 1 ? transactions : []) {
        const paymentId = textOf(find(first?.parent ?? null, 'PmtInfId'));
        if (status.paymentId !== null && status.paymentId !== paymentId) continue;
        const isIdentified = status.ids.some((id) => id !== null);
        if (first === null || isIdentified || !agrees(status, first)) continue;
        transactions.delete(status);
        report(status, first, findings);
      }
      reportRest(payments, 'payment', element, findings);
      reportRest(transactions, 'transaction', element, findings);
      isRead = true;
    },
    /** One line for people about all transactions; none unless the report is about the message, and all of it was read. */
    describe(): readonly string[] {
      if (!isRead || first === null) return [];
      const all = countOf(checked, first.name === 'DrctDbtTxInf' ? 'direct debit' : 'payment');
      const [name] = outcomes.keys();
      const each = [...outcomes].map(([outcome, number]) => `${count(number)} ${outcome}`).join(', ');
      const said = outcomes.size > 1 ? `of ${all}, ${each}` : `${checked > 1 ? 'all ' : ''}${all} ${name}`;
      return [`report ${printId(reportId ?? 'without MsgId')}: ${said}`];
    },
  };
}

/** @param own what is said of a transaction itself @param whole what is said of its payment, or of the message */
function outcomeOf(own: ReportedStatus | null, whole: ReportedStatus): string {
  const { status, problem } = own ?? whole;
  if (status === 'RCVC') return 'with the name of the account holder';
  if (status !== null && problem === null) return 'accepted';
  if (problem?.code === 'BANK_REJECTED') return 'rejected';
  // That of a whole, such as PART, is not said of each.
  return own === null || status === null ? 'without a status' : 'with another status';
}

/**
 * Finds what is said of a transaction by its identifications and that of its payment, without a comparison with all: the first of
 * `idNames` that the report has must be equal, and none may differ. Banks leave some out, and add a UETR. Of several with the same
 * ones, it is one that repeats no other amount or IBAN.
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

  return (ids: readonly (string | null)[], transaction: XmlElement): ReportedStatus | null => {
    const found = [...byMask].flatMap(([mask, all]) => {
      const shared = mask & maskOf(ids);
      if (firstOf(shared) !== firstOf(mask)) return [];
      const name = `${mask} ${shared}`;
      const index = indexes.get(name) ?? groupBy(all, (status) => keyOf(idsOf(status), shared));
      indexes.set(name, index);
      const queue = index.get(keyOf(ids, shared)) ?? [];
      const status = findLast(queue, transaction);
      return status === null ? [] : [{ status, shared }];
    });
    const [best] = found.sort((one, other) => firstOf(one.shared) - firstOf(other.shared) || other.shared - one.shared);
    return best?.status ?? null;
  };

  function findLast(queue: ReportedStatus[], transaction: XmlElement): ReportedStatus | null {
    let contradicting = 0;
    for (let index = queue.length - 1; index >= 0 && contradicting < maxContradicting; index -= 1) {
      const status = queue[index] as ReportedStatus;
      if (!statuses.has(status)) queue.splice(index, 1);
      else if (!contradicts(status, transaction)) return status;
      else contradicting += 1;
    }
    return null;
  }
}

/** More are not looked at: all transactions of a message may have one identification. */
const maxContradicting = 100;

function readFacts(element: XmlElement | null, other: 'Cdtr' | 'Dbtr', amount: XmlElement | null): Facts {
  const party = find(element, other);
  const units = parseDecimal(textOf(amount) ?? '')?.units;
  return {
    name: textOf(find(find(party, 'Pty') ?? party, 'Nm')),
    iban: ibanOf(find(element, `${other}Acct`)) || null,
    amount: units === undefined ? null : `${amount?.attributes.Ccy} ${printUnits(units)}`,
  };
}

/** What the report repeats of a transaction, and what was sent; null if it repeats nothing. */
function compareFacts({ repeated }: ReportedStatus, transaction: XmlElement): { said: Facts; sent: Facts } | null {
  const isDirectDebit = transaction.name === 'DrctDbtTxInf';
  const other = isDirectDebit ? 'Dbtr' : 'Cdtr';
  return (
    repeated && { said: repeated[other], sent: readFacts(transaction, other, findAmount(transaction, isDirectDebit)) }
  );
}

/** Whether a report repeats another amount or IBAN than that of this transaction. Banks mask IBANs. */
function contradicts(status: ReportedStatus, transaction: XmlElement): boolean {
  const { said, sent } = compareFacts(status, transaction) ?? {};
  if (!said || !sent) return false;
  const areIbans = isValidIban(said.iban ?? '') && isValidIban(sent.iban ?? '');
  return (
    (areIbans && said.iban !== sent.iban) ||
    (said.amount !== null && sent.amount !== null && said.amount !== sent.amount)
  );
}

/** Whether what a report repeats of a transaction is that of this one: its amount, or the other party with its IBAN, and nothing else. */
function agrees(status: ReportedStatus, transaction: XmlElement): boolean {
  const { said, sent } = compareFacts(status, transaction) ?? {};
  if (!said || !sent) return false;
  const plain = (name: string | null) => name && (toSepaCharacters(name) ?? name).toUpperCase();
  if (said.name !== null && plain(said.name) !== plain(sent.name)) return false;
  if (said.iban !== null && said.iban !== sent.iban) return false;
  if (said.amount !== null) return said.amount === sent.amount;
  return said.name !== null && said.iban !== null;
}

function report({ status, problem, parts }: ReportedStatus, element: XmlElement, findings: MessageFindings): void {
  if (problem === null || (parts !== null && isSaidOfParts(status, parts))) return;
  findings.addProblem({ element, ...problem });
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
function describe({ paymentId, ids, repeated }: ReportedStatus): string {
  const iban = repeated?.Cdtr.iban ?? repeated?.Dbtr.iban;
  const known = [
    ...ids.flatMap((id, index) => (id === null ? [] : [`${idNames[index]} ${id}`])),
    ...(iban ? [`IBAN ${maskIban(iban)}`] : []),
    ...(repeated?.Cdtr.amount ? [repeated.Cdtr.amount] : []),
    ...(paymentId === null ? [] : [`PmtInfId ${paymentId}`]),
  ].map(printId);
  return known.join(', ') || 'without an identification';
}

function printId(text: string): string {
  return /^[ -~]{1,60}$/.test(text) ? redactIbans(text) : 'an identification that cannot be printed';
}
