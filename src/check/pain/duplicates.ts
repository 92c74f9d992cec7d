import { FingerprintMap, fingerprintOf } from '../fingerprints.ts';
import { find, ibanOf, idOf, textOf, type XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';
import type { Party } from './message-versions.ts';
import { parseDecimal } from './values.ts';

/**
 * Finds what a message has twice. Keeps only fingerprints.
 * @param messageIds those of other messages; that of this message is added
 */
export function createDuplicates(messageIds: Set<string>, findings: MessageFindings) {
  const paymentIds = new FingerprintMap();
  const endToEndIds = new FingerprintMap();
  const uetrIds = new FingerprintMap();
  const transactions = new FingerprintMap();

  return {
    checkMessage(element: XmlElement | null): void {
      const id = textOf(element);
      if (element === null || id === null) return;
      if (messageIds.has(id)) {
        const message = 'MsgId is that of a message that was checked before. Give each message its own.';
        findings.add('DUPLICATE_MESSAGE_ID', element, message);
      }
      messageIds.add(id);
    },

    checkPayment(element: XmlElement | null): void {
      const line = findEarlierLine(paymentIds, textOf(element), element);
      if (element === null || line === null) return;
      findings.add('DUPLICATE_PAYMENT_ID', element, `PmtInfId is that in line ${line}. Give each payment its own.`);
    },

    /** @param other the party that gets or pays the money */
    checkTransaction(transaction: XmlElement, other: Party, amount: XmlElement | null): void {
      const endToEnd = find(transaction, 'PmtId', 'EndToEndId');
      const id = idOf(endToEnd);
      const earlierId = findEarlierLine(endToEndIds, id, endToEnd);
      if (endToEnd !== null && earlierId !== null) {
        const message = `EndToEndId is that in line ${earlierId}. Give each transaction its own, or write NOTPROVIDED.`;
        findings.add('DUPLICATE_END_TO_END_ID', endToEnd, message);
      }
      const uetr = find(transaction, 'PmtId', 'UETR');
      const earlierUetr = findEarlierLine(uetrIds, textOf(uetr), uetr);
      if (uetr !== null && earlierUetr !== null) {
        findings.add('DUPLICATE_UETR', uetr, `UETR is that in line ${earlierUetr}. Create one for each transaction.`);
      }
      const iban = ibanOf(find(transaction, `${other}Acct`));
      const sum = textOf(amount);
      if (iban === '' || sum === null) return;
      const key = [iban, parseDecimal(sum)?.units ?? sum, amount?.attributes.Ccy].join(' ');
      const [earlier] = findReferences(transaction, id)
        .map((reference) => findEarlierLine(transactions, `${key} ${reference}`, transaction))
        .filter((line) => line !== null);
      if (earlier === undefined) return;
      const message = `The transaction has the IBAN, the amount and the reference of that in line ${earlier}. Send it once, unless it is meant.`;
      findings.add('DUPLICATE_PAYMENT', transaction, message);
    },
  };
}

/** The line of the element that had the text first; null if this is the first one. */
function findEarlierLine(lines: FingerprintMap, text: string | null, element: XmlElement | null): number | null {
  return text === null || element === null ? null : lines.add(fingerprintOf(text), element.line);
}

/** One of these must differ between two transactions with the same account and amount; an empty one if there is none. */
function findReferences(transaction: XmlElement, id: string | null): readonly string[] {
  const remittance = find(transaction, 'RmtInf');
  const text = textOf(find(remittance, 'Ustrd')) ?? textOf(find(remittance, 'Strd', 'CdtrRefInf', 'Ref'));
  const references = [id === null ? null : `id ${id}`, text === null ? null : `text ${text}`];
  const given = references.filter((reference) => reference !== null);
  return given.length > 0 ? given : [''];
}
