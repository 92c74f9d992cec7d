import { normalizeForSearch } from '../../banks/normalize-for-search.ts';
import type { RuleCode } from '../finding.ts';
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
  const lines = new FingerprintMap();
  /** The line of the element that had the text first; null if this is the first one. */
  const findEarlierLine = (code: RuleCode, text: string, element: XmlElement) =>
    lines.add(fingerprintOf(`${code} ${text}`), element.line);
  const checkId = (code: RuleCode, element: XmlElement | null, advice: string, id = textOf(element)) => {
    const line = element === null || id === null ? null : findEarlierLine(code, id, element);
    if (element === null || line === null) return;
    findings.add(code, element, `${element.name} is that in line ${line}. ${advice}`);
  };

  const checkName = (iban: string, element: XmlElement | null) => {
    if (iban === '' || element === null) return;
    const words = normalizeForSearch(element.text.replaceAll(/([aou])e/gi, '$1')).match(/[\p{L}\p{N}]+/gu) ?? [];
    const line = lines.add(fingerprintOf(`IBAN ${iban}`), element.line);
    const same = lines.add(fingerprintOf(`IBAN ${iban} ${words.toSorted().join(' ')}`), element.line);
    if (line === null || same !== null) return;
    const message = `Nm is another than that of the same IBAN in line ${line}. Look whether one of them is wrong.`;
    findings.add('NAMES_DIFFER', element, message);
  };

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
      checkId('DUPLICATE_PAYMENT_ID', element, 'Give each payment its own.');
    },

    /** @param other the party that gets or pays the money */
    checkTransaction(transaction: XmlElement, other: Party, amount: XmlElement | null): void {
      const endToEnd = find(transaction, 'PmtId', 'EndToEndId');
      const id = idOf(endToEnd);
      checkId('DUPLICATE_END_TO_END_ID', endToEnd, 'Give each transaction its own, or write NOTPROVIDED.', id);
      checkId('DUPLICATE_UETR', find(transaction, 'PmtId', 'UETR'), 'Create one for each transaction.');
      const iban = ibanOf(find(transaction, `${other}Acct`));
      if (other === 'Cdtr') checkName(iban, find(transaction, 'Cdtr', 'Nm'));
      const sum = textOf(amount);
      if (iban === '' || sum === null) return;
      const key = [iban, parseDecimal(sum)?.units ?? sum, amount?.attributes.Ccy].join(' ');
      const [earlier] = findReferences(transaction, id)
        .map((reference) => findEarlierLine('DUPLICATE_PAYMENT', `${key} ${reference}`, transaction))
        .filter((line) => line !== null);
      if (earlier === undefined) return;
      const message = `The transaction has the IBAN, the amount and the reference of that in line ${earlier}. Send it once, unless it is meant.`;
      findings.add('DUPLICATE_PAYMENT', transaction, message);
    },
  };
}

/** One of these must differ between two transactions with the same account and amount; an empty one if there is none. */
function findReferences(transaction: XmlElement, id: string | null): readonly string[] {
  const remittance = find(transaction, 'RmtInf');
  const text = textOf(find(remittance, 'Ustrd')) ?? textOf(find(remittance, 'Strd', 'CdtrRefInf', 'Ref'));
  const given = [...(id === null ? [] : [`id ${id}`]), ...(text === null ? [] : [`text ${text}`])];
  return given.length > 0 ? given : [''];
}
