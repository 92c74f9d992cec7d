import type { SaxesTagNS } from 'saxes';
import type { XmlElement } from './elements.ts';
import { createXmlReader, tooLarge, type XmlReader } from './read-xml.ts';
import { Refusal } from './rules.ts';

/**
 * The parts of a payment message, in its order. Outer elements (the document, the message in it and its payments) have no children
 * but, in a payment, those before its first transaction.
 */
export interface MessageParts {
  /** @throws Refusal if it is not that of a payment message */
  openDocument(document: XmlElement, namespace: string): void;
  /**
   * @returns the name of the elements that are transactions
   * @throws Refusal if the document has no such message
   */
  openMessage(message: XmlElement): string;
  /** A child of the message that is not a payment, such as the group header. */
  header(element: XmlElement): void;
  /** A payment, with its children up to the first transaction. */
  openPayment(payment: XmlElement): void;
  transaction(transaction: XmlElement): void;
  /** With all its children except the transactions. */
  closePayment(payment: XmlElement): void;
  closeMessage(message: XmlElement): void;
}

export interface ElementReader extends XmlReader {
  /** The innermost element that is open. */
  current(): XmlElement | null;
}

/** A part is a header or a transaction. Far beyond what it needs. */
export const partLimits = { elements: 1000, characters: 65_536 } as const;

/** Reads the elements of a payment message, of which those of one payment header and one transaction are in memory. */
export function createElementReader(parts: MessageParts): ElementReader {
  /** The open elements of the namespace. */
  const open: XmlElement[] = [];
  /** How many open elements are in another namespace, or within one. */
  let foreignDepth = 0;
  let namespace = '';
  let transactionName = '';
  let order = 0;
  let payments = 0;
  let transactions = 0;
  let isPaymentOpened = false;
  /** The size of the part that is being read, and that of the header of its payment. */
  let part = { elements: 0, characters: 0 };
  let header = part;

  const reader = createXmlReader({
    openTag(tag) {
      if (open.length === 0) namespace = tag.uri;
      if (foreignDepth > 0 || tag.uri !== namespace) foreignDepth += 1;
      else openElement(tag);
    },
    closeTag() {
      if (foreignDepth > 0) foreignDepth -= 1;
      else closeElement();
    },
    text(text) {
      const element = open.at(-1);
      if (foreignDepth > 0 || element === undefined || open.length < 3 || element.children.length > 0) return;
      countCharacters(text);
      element.text += text;
    },
  });
  return { ...reader, current: () => open.at(-1) ?? null };

  function openElement(tag: SaxesTagNS): void {
    const parent = open.at(-1) ?? null;
    const depth = open.length;
    const isPayment = depth === paymentDepth && tag.local === 'PmtInf';
    if (isPayment) [payments, transactions, isPaymentOpened] = [payments + 1, 0, false];
    if (depth === paymentDepth) header = part = { elements: 0, characters: 0 };
    const isTransaction = depth === paymentDepth + 1 && parent?.name === 'PmtInf' && tag.local === transactionName;
    if (isTransaction) {
      openPaymentOnce(parent);
      transactions += 1;
      part = { elements: 0, characters: 0 };
    }
    order += 1;
    part.elements += 1;
    if (part.elements > partLimits.elements) throw tooLarge('A header or transaction', partLimits.elements, 'elements');
    const element: XmlElement = {
      name: tag.local,
      line: reader.line(),
      order,
      index: isPayment ? payments : isTransaction ? transactions : null,
      parent,
      children: [],
      attributes: readAttributes(tag),
      text: '',
    };
    for (const name in element.attributes) countCharacters(element.attributes[name] ?? '');
    if (parent !== null && depth > paymentDepth && !isTransaction) {
      parent.children.push(element);
      parent.text = '';
    }
    open.push(element);
    if (depth === 0) parts.openDocument(element, namespace);
    if (depth === 1) transactionName = parts.openMessage(element);
  }

  function closeElement(): void {
    const element = open.pop();
    const depth = open.length;
    if (element === undefined || depth > paymentDepth + 1) return;
    if (depth === paymentDepth + 1) {
      if (element.parent?.name !== 'PmtInf' || element.name !== transactionName) return;
      parts.transaction(element);
      part = header;
    } else if (depth === paymentDepth && element.name === 'PmtInf') {
      openPaymentOnce(element);
      parts.closePayment(element);
    } else if (depth === paymentDepth) parts.header(element);
    else if (depth === 1) parts.closeMessage(element);
    else if (transactionName === '') {
      throw new Refusal('WRONG_ROOT', 'The document has no message in it. Send the complete message.');
    }
  }

  function openPaymentOnce(payment: XmlElement): void {
    if (!isPaymentOpened) parts.openPayment(payment);
    isPaymentOpened = true;
  }

  function countCharacters(text: string): void {
    part.characters += text.length;
    if (part.characters > partLimits.characters) {
      throw tooLarge('A header or transaction', partLimits.characters, 'characters');
    }
  }
}

/** How many elements a payment is in: the document and the message. */
const paymentDepth = 2;

const noAttributes: Readonly<Record<string, string>> = {};

/** Those without a prefix. */
function readAttributes({ attributes }: SaxesTagNS): Readonly<Record<string, string>> {
  let read = noAttributes;
  for (const name in attributes) {
    const attribute = attributes[name];
    if (attribute?.prefix === '') read = { ...read, [attribute.local]: attribute.value };
  }
  return read;
}
