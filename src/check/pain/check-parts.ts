import { matchBic } from '../../banks/match-bic.ts';
import { findBicProblems } from '../../iban/bic.ts';
import { compactIban, isValidIban } from '../../iban/iban.ts';
import type { Answers } from '../answers/answers.ts';
import { type BankFacts, knownBics } from '../bank-facts.ts';
import { FingerprintMap } from '../fingerprints.ts';
import { checkElements } from './check-elements.ts';
import { checkCommonElements, checkPayment, checkTransaction, hasSepaService, isSepaPayment } from './check-payment.ts';
import { addAmount, checkAmount, checkTotals, createTotals, type Totals } from './check-totals.ts';
import { createDuplicates } from './duplicates.ts';
import { find, type XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';
import { findVersion, type MessageVersion } from './message-versions.ts';
import type { MessageParts } from './read-message.ts';
import { Refusal } from './rules.ts';

interface PartChecksOptions {
  findings: MessageFindings;
  answers: Pick<Answers, 'find'>;
  banks: BankFacts;
  /** ISO 8601, such as 2026-11-26. */
  today: string;
  /** Identifications of messages that were checked before; that of this message is added. */
  messageIds: Set<string>;
}

interface PartChecks {
  parts: MessageParts;
  summary(): { version: MessageVersion | null; payments: number; totals: Totals; ibans: number };
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
export function createPartChecks({ findings, answers, banks, today, messageIds }: PartChecksOptions): PartChecks {
  const duplicates = createDuplicates(messageIds, findings);
  const totals = createTotals();
  const ibans = new FingerprintMap();
  let version: MessageVersion | null = null;
  let message: XmlElement | null = null;
  let groupHeader: XmlElement | null = null;
  let payment: Payment | null = null;
  let payments = 0;

  const parts: MessageParts = {
    openDocument({ name }, namespace) {
      version = findVersion(namespace);
      if (name !== 'Document') throw new Refusal('WRONG_ROOT', `The root element is ${name}. It must be Document.`);
    },

    openMessage(element) {
      const of = requireVersion();
      const { message: expected, name } = of;
      if (message !== null || element.name !== expected) {
        const text = `Document has ${element.name} in it. ${name} has one ${expected}, and nothing else.`;
        throw new Refusal('WRONG_ROOT', text);
      }
      message = element;
      return of;
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
      duplicates.checkPayment(find(element, 'PmtInfId'));
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
      duplicates.checkTransaction(element, isDirectDebit ? 'Dbtr' : 'Cdtr', amount);
      finishPart(element, isSepa);
    },

    closePayment(element) {
      if (payment !== null) checkTotals(element, payment.totals, findings);
      findings.endPart();
    },

    closeMessage() {
      if (groupHeader !== null) checkTotals(groupHeader, totals, findings);
      findings.endPart();
    },
  };
  return { parts, summary: () => ({ version, payments, totals, ibans: ibans.size }) };

  function requireVersion(): MessageVersion {
    if (version === null) throw new Error('the document must be opened first');
    return version;
  }

  function checkGroupHeader(element: XmlElement): void {
    duplicates.checkMessage(find(element, 'MsgId'));
    if (find(element, 'CtrlSum') !== null) return;
    const text = 'The group header has no CtrlSum. Add the sum of all amounts.';
    findings.add('CONTROL_SUM_MISSING', find(element, 'NbOfTxs') ?? element, text);
  }

  /** Checks each element of a part, and reports all of its findings. */
  function finishPart(element: XmlElement, isSepa: boolean): void {
    checkElements(element, { version: requireVersion(), findings, isSepa, ibans, answers, banks });
    matchBics(element);
    findings.endPart();
  }

  /** The BIC of each agent is compared with the bank of the account beside it. */
  function matchBics(element: XmlElement): void {
    for (const party of ['Dbtr', 'Cdtr']) {
      const iban = compactIban(find(element, `${party}Acct`, 'Id', 'IBAN')?.text ?? '');
      const institution = find(element, `${party}Agt`, 'FinInstnId');
      const bic = find(institution, 'BICFI') ?? find(institution, 'BIC');
      if (bic === null || !isRealBic(bic.text) || !isValidIban(iban)) continue;
      findings.addAnswered(bic, { iban, answer: answers.find(iban) }, (answer) => {
        const known = knownBics(iban, answer, banks);
        if (matchBic(bic.text, known) !== 'OTHER_BANK') return null;
        const text =
          'The BIC is that of another bank than the IBAN. Check both, or leave the BIC out: the IBAN decides.';
        return { code: 'BIC_OF_OTHER_BANK', message: text, suggestion: known[0] ?? null };
      });
    }
  }
}

function isRealBic(text: string): boolean {
  return text !== 'NOTPROVIDED' && findBicProblems(text).length === 0;
}
