import { findBicProblems } from '../../iban/bic.ts';
import { compactIban, isValidIban } from '../../iban/iban.ts';
import type { Finding } from '../finding.ts';
import { checkElements, type IbanRules } from './check-elements.ts';
import {
  checkCommonElements,
  checkMandatory,
  checkPayment,
  checkTransaction,
  hasSepaService,
  isSepaPayment,
} from './check-payment.ts';
import { addAmount, checkAmount, checkTotals, createTotals, type Totals } from './check-totals.ts';
import { createDuplicates } from './duplicates.ts';
import { find, type XmlElement } from './elements.ts';
import type { IbanAnswer, LookUps } from './look-ups.ts';
import { type MessageVersion, messageVersions, namespacePrefix } from './message-versions.ts';
import { createPartFindings, type Found, placeOf } from './part-findings.ts';
import type { MessageParts } from './read-elements.ts';
import { createFinding, Refusal } from './rules.ts';

/** Compares a valid BIC with all that are known of the bank of an IBAN. */
export type MatchBic = (bic: string, known: readonly string[]) => 'SAME_BANK' | 'OTHER_BANK' | 'UNKNOWN';

interface MessageCheckOptions {
  report(found: Found): void;
  lookUps: LookUps;
  ibanRules: IbanRules;
  matchBic: MatchBic;
  /** ISO 8601, such as 2026-11-26. */
  today: string;
  /** Identifications of messages that were checked before; that of this message is added. */
  messageIds: Set<string>;
}

export interface MessageCheck extends MessageParts {
  version(): MessageVersion | null;
  totals(): Totals;
  payments(): number;
}

/** A payment whose transactions are being read. */
interface Payment {
  element: XmlElement;
  totals: Totals;
  isSepa: boolean;
  /** Paths of missing elements. */
  reported: Set<string>;
}

/** Checks the parts of a message as they are read. */
export function createMessageCheck(options: MessageCheckOptions): MessageCheck {
  const { lookUps, ibanRules, matchBic, today } = options;
  const findings = createPartFindings(options.report);
  const duplicates = createDuplicates(options.messageIds);
  const totals = createTotals();
  let version: MessageVersion | null = null;
  let message: XmlElement | null = null;
  let groupHeader: XmlElement | null = null;
  let payment: Payment | null = null;
  let payments = 0;

  return {
    version: () => version,
    totals: () => totals,
    payments: () => payments,

    openDocument({ name }, namespace) {
      version = findVersion(namespace);
      if (name !== 'Document') throw new Refusal('WRONG_ROOT', `The root element is ${name}. It must be Document.`);
    },

    openMessage(element) {
      const { transaction, message: expected, name } = requireVersion();
      if (message !== null || element.name !== expected) {
        const text = `Document has ${element.name} in it. ${name} has one ${expected}, and nothing else.`;
        throw new Refusal('WRONG_ROOT', text);
      }
      message = element;
      return transaction;
    },

    header(element) {
      if (element.name === 'GrpHdr' && groupHeader === null) {
        groupHeader = element;
        checkGroupHeader(element);
      }
      finishPart(element, false);
    },

    openPayment(element) {
      payments += 1;
      const isSepa = isSepaPayment(element, requireVersion());
      payment = { element, totals: createTotals(), isSepa, reported: new Set() };
      duplicates.checkPayment(find(element, 'PmtInfId'), findings);
      checkPayment(element, { findings, version: requireVersion(), today });
      finishPart(element, isSepa);
    },

    transaction(element) {
      if (payment === null) return;
      const { isDirectDebit } = requireVersion();
      const isSepa = payment.isSepa || hasSepaService(element);
      const amount = isDirectDebit ? find(element, 'InstdAmt') : find(element, 'Amt', 'InstdAmt');
      for (const counted of [totals, payment.totals]) addAmount(counted, amount);
      checkAmount(amount, { isSepa, findings });
      checkTransaction(element, { findings, version: requireVersion(), today, isSepa });
      if (isDirectDebit) checkCommonElements(payment.element, element, { findings, reported: payment.reported });
      duplicates.checkTransaction(element, { other: isDirectDebit ? 'Dbtr' : 'Cdtr', amount, findings });
      finishPart(element, isSepa);
    },

    closePayment(element) {
      if (payment?.totals.count === 0) findings.addMissing(element, requireVersion().transaction);
      if (payment !== null) checkTotals(element, payment.totals, findings);
      findings.report();
    },

    closeMessage(element) {
      if (groupHeader === null) findings.addMissing(element, 'GrpHdr');
      else checkTotals(groupHeader, totals, findings);
      if (payments === 0) findings.addMissing(element, 'PmtInf');
      findings.report();
    },
  };

  function requireVersion(): MessageVersion {
    if (version === null) throw new Error('the document must be opened first');
    return version;
  }

  function checkGroupHeader(element: XmlElement): void {
    checkMandatory(element, ['MsgId', 'CreDtTm', 'NbOfTxs', 'InitgPty'], findings);
    duplicates.checkMessage(find(element, 'MsgId'), findings);
    if (find(element, 'CtrlSum') !== null) return;
    const text = 'The group header has no CtrlSum. Add the sum of all amounts.';
    findings.add('CONTROL_SUM_MISSING', find(element, 'NbOfTxs') ?? element, text);
  }

  /** Checks each element of a part, and reports all of its findings. */
  function finishPart(element: XmlElement, isSepa: boolean): void {
    checkElements(element, { version: requireVersion(), lookUps, ibanRules }, { findings, isSepa });
    matchBics(element);
    findings.report();
  }

  /** The BIC of each agent is compared with the bank of the account beside it. */
  function matchBics(element: XmlElement): void {
    for (const party of ['Dbtr', 'Cdtr']) {
      const iban = compactIban(find(element, `${party}Acct`, 'Id', 'IBAN')?.text ?? '');
      const institution = find(element, `${party}Agt`, 'FinInstnId');
      const bic = find(institution, 'BICFI') ?? find(institution, 'BIC');
      if (bic === null || !isRealBic(bic.text) || !isValidIban(iban)) continue;
      const { answer } = lookUps.ask(iban);
      findings.addAnswered(bic, { iban, answer }, (known) => findOtherBank(bic, known));
    }
  }

  function findOtherBank(bic: XmlElement, answer: IbanAnswer): Finding | null {
    if (answer.kind !== 'answered' || matchBic(bic.text, answer.bics) !== 'OTHER_BANK') return null;
    const text = 'The BIC is that of another bank than the IBAN. Check both, or leave the BIC out: the IBAN decides.';
    const [suggestion = null] = answer.bics;
    return createFinding('BIC_OF_OTHER_BANK', placeOf(bic), text, suggestion);
  }
}

function findVersion(namespace: string): MessageVersion {
  const name = namespace.slice(namespacePrefix.length);
  const supported = messageVersions.map((version) => version.name).join(', ');
  if (!namespace.startsWith(namespacePrefix)) {
    throw new Refusal(
      'WRONG_NAMESPACE',
      `The root element must be in the namespace ${namespacePrefix} of ${supported}.`,
    );
  }
  const version = messageVersions.find((each) => each.name === name);
  if (version !== undefined) return version;
  const printed = /^[a-z]{4}(?:\.\d{2,3}){3}$/.test(name) ? name : 'of another type';
  throw new Refusal('UNSUPPORTED_MESSAGE', `The message is ${printed}. These are checked: ${supported}.`);
}

function isRealBic(text: string): boolean {
  return text !== 'NOTPROVIDED' && findBicProblems(text).length === 0;
}
