import { SaxesParser, type SaxesTagNS } from 'saxes';
import type { SchemaCheck } from './check-schema.ts';
import type { XmlElement } from './elements.ts';
import type { MessageVersion } from './message-versions.ts';
import { Refusal } from './rules.ts';

/**
 * The parts of a payment message, in its order. Outer elements (the document, the message in it and its payments) have no children
 * but, in a payment, those before its first transaction.
 */
export interface MessageParts {
  /**
   * @returns the version of the message in it
   * @throws Refusal if it is not that of a payment message
   */
  openDocument(document: XmlElement, namespace: string): MessageVersion;
  /** A child of the message that is not a payment, such as the group header. */
  header(element: XmlElement): void;
  /** A payment, with its children up to the first transaction. */
  openPayment(payment: XmlElement): void;
  transaction(transaction: XmlElement, version: MessageVersion): void;
  /** With all its children except the transactions. */
  closePayment(payment: XmlElement, version: MessageVersion): void;
  closeMessage(message: XmlElement, version: MessageVersion): void;
}

export interface MessageReader {
  /** @throws Refusal */
  write(text: string): void;
  /** @throws Refusal if the document is not complete */
  end(): void;
  /** How many characters were read, the line that is being read, from 1, and the innermost element that is open. */
  position(): { offset: number; line: number; element: XmlElement | null };
}

/** Far beyond what a payment message needs. A part is a header or a transaction. */
export const messageLimits = {
  depth: 32,
  attributes: 32,
  nameLength: 100,
  /** Of a tag, a comment or a text between two tags, in characters. */
  tokenLength: 65_536,
  partElements: 1000,
  partCharacters: 65_536,
} as const;

/**
 * Reads the elements of a payment message, of which those of one payment header and one transaction are in memory. Document type
 * declarations are refused, so there are no entities but those of XML, and nothing is loaded.
 */
export function createMessageReader(parts: MessageParts, schema: SchemaCheck): MessageReader {
  const parser = new SaxesParser({ xmlns: true });
  /** The name of the first element, with its prefix. */
  let root: string | null = null;
  /** The open elements of the namespace. */
  const open: XmlElement[] = [];
  /** How many open elements are in another namespace, or within one. */
  let foreignDepth = 0;
  let namespace = '';
  /** Null before the document is open. */
  let version: MessageVersion | null = null;
  let messages = 0;
  let order = 0;
  let payments = 0;
  let transactions = 0;
  let isPaymentOpened = false;
  /** The size of the part that is being read, and that of the header of its payment. */
  let part = { elements: 0, characters: 0 };
  let header = part;
  let attributes = 0;
  /** What was written since the last event, and where it begins. */
  let unread = { text: '', start: 0, line: 1 };
  const eventAt = { position: 0, line: 1 };
  const beginToken = () => {
    checkToken();
    eventAt.position = parser.position;
    eventAt.line = parser.line;
  };

  parser.on('error', (error) => {
    checkToken();
    const problem = printSyntaxError(error);
    if (root === null) throw new Refusal('NOT_XML', `The file is not XML: ${problem}.`);
    throwIfAmpersand();
    if (problem.includes('tag name')) {
      throw new Refusal('NOT_WELL_FORMED', `The XML has a syntax error: ${problem}. In a text, write &lt; for <.`);
    }
    throw new Refusal('NOT_WELL_FORMED', `The XML has a syntax error: ${problem}.`);
  });
  parser.on('doctype', () => {
    const message = 'The file has a document type declaration. Remove it: payment messages have none.';
    throw new Refusal('DOCTYPE_REFUSED', message);
  });
  parser.on('opentagstart', ({ name }) => {
    checkLimit('nameLength', name.length);
    attributes = 0;
    beginToken();
  });
  parser.on('attribute', () => {
    attributes += 1;
    checkLimit('attributes', attributes);
    beginToken();
  });
  parser.on('opentag', (tag) => {
    root ??= tag.name;
    beginToken();
    checkLimit('depth', open.length + foreignDepth + 1);
    if (open.length === 0) namespace = tag.uri;
    if (foreignDepth === 0 && tag.uri === namespace) return openElement(tag);
    if (open.length === 1 && foreignDepth === 0 && tag.local === version?.message) {
      const advice = `${tag.local} has another namespace than Document. Give both the same, with or without a prefix.`;
      throw new Refusal('WRONG_ROOT', advice);
    }
    countElement();
    if (foreignDepth === 0) schema.openForeign(tag);
    foreignDepth += 1;
  });
  parser.on('closetag', () => {
    beginToken();
    if (foreignDepth > 0) foreignDepth -= 1;
    else closeElement();
  });
  for (const event of ['text', 'cdata'] as const) {
    parser.on(event, (text) => {
      beginToken();
      const element = open.at(-1);
      if (foreignDepth > 0 || element === undefined) return;
      schema.text(text);
      if (open.length < 3 || element.children.length > 0) return;
      countCharacters(text);
      element.text += text;
    });
  }
  parser.on('comment', beginToken);
  parser.on('processinginstruction', beginToken);

  return {
    write(text) {
      unread.text += text;
      parser.write(text);
      const { position, line } = eventAt;
      if (position > unread.start) unread = { text: unread.text.slice(position - unread.start), start: position, line };
      checkToken();
    },
    end() {
      throwIfAmpersand();
      if (open.length > 0) throw new Refusal('TRUNCATED', `The file ends before </${root}>. Send the complete file.`);
      parser.close();
    },
    position: () => ({ offset: parser.position, line: parser.line, element: open.at(-1) ?? null }),
  };

  function openElement(tag: SaxesTagNS): void {
    const parent = open.at(-1) ?? null;
    const depth = open.length;
    const isPayment = depth === paymentDepth && tag.local === version?.payment;
    if (isPayment) [payments, transactions, isPaymentOpened] = [payments + 1, 0, false];
    if (depth === paymentDepth) header = part = { elements: 0, characters: 0 };
    const isTransaction =
      depth === paymentDepth + 1 && parent?.name === version?.payment && tag.local === version?.transaction;
    if (isTransaction) {
      if (parent !== null) openPaymentOnce(parent);
      transactions += 1;
      part = { elements: 0, characters: 0 };
    }
    order += 1;
    countElement();
    const element: XmlElement = {
      name: tag.local,
      line: parser.line,
      order,
      index: isPayment ? payments : isTransaction ? transactions : null,
      parent,
      children: [],
      attributes: readAttributes(tag),
      text: '',
      ...{ start: parser.position, end: 0, allows: allowsAll },
    };
    for (const name in element.attributes) countCharacters(element.attributes[name] ?? '');
    if (parent !== null && depth > paymentDepth && !isTransaction) {
      parent.children.push(element);
      parent.text = '';
    }
    open.push(element);
    if (depth === 0) version = parts.openDocument(element, namespace);
    if (depth === 1 && version !== null) openMessage(element, version, tag);
    else schema.open(element, tag);
  }

  function openMessage(element: XmlElement, version: MessageVersion, tag: SaxesTagNS): void {
    messages += 1;
    if (messages > 1 || element.name !== version.message) {
      const message = `Document has ${element.name} in it. ${version.name} has one ${version.message}, and nothing else.`;
      throw new Refusal('WRONG_ROOT', message);
    }
    schema.openMessage(element, version, tag);
  }

  function closeElement(): void {
    const element = open.pop();
    const depth = open.length;
    if (element !== undefined) element.end = parser.position;
    schema.close();
    if (element === undefined || version === null || depth > paymentDepth + 1) return;
    if (depth === paymentDepth + 1) {
      if (element.parent?.name !== version.payment || element.name !== version.transaction) return;
      parts.transaction(element, version);
      part = header;
    } else if (depth === paymentDepth && element.name === version.payment) {
      openPaymentOnce(element);
      parts.closePayment(element, version);
    } else if (depth === paymentDepth) parts.header(element);
    else if (depth === 1) parts.closeMessage(element, version);
    else if (messages === 0) {
      throw new Refusal('WRONG_ROOT', 'The document has no message in it. Send the complete message.');
    }
  }

  function openPaymentOnce(payment: XmlElement): void {
    if (!isPaymentOpened) parts.openPayment(payment);
    isPaymentOpened = true;
  }

  /** An `&` that begins no reference hides what follows it up to the next semicolon. */
  function throwIfAmpersand(): void {
    const text = unread.text.slice(Math.max(0, eventAt.position - unread.start));
    const { index } = /&(?!(?:#\d{1,7}|#x[\dA-Fa-f]{1,6}|amp|lt|gt|quot|apos);)/.exec(text) ?? {};
    if (root === null || index === undefined || text.slice(0, index).includes('<!')) return;
    const line = eventAt.line + (text.slice(0, index).match(/\n/g)?.length ?? 0);
    const message = `An & in line ${line} is not followed by the name of a character. Write &amp; in its place.`;
    throw new Refusal('NOT_WELL_FORMED', message, line);
  }

  function checkToken(): void {
    // The parser counts a piece twice after its last character.
    const length = Math.min(parser.position, unread.start + unread.text.length) - eventAt.position;
    if (length > messageLimits.tokenLength) throwIfAmpersand();
    checkLimit('tokenLength', length);
  }

  function countElement(): void {
    part.elements += 1;
    checkLimit('partElements', part.elements);
  }

  function countCharacters(text: string): void {
    part.characters += text.length;
    checkLimit('partCharacters', part.characters);
  }
}

/** How many elements a payment is in: the document and the message. */
const paymentDepth = 2;

const allowsAll = () => true;
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

const limitNames: Readonly<Record<keyof typeof messageLimits, readonly [what: string, unit: string]>> = {
  depth: ['The document', 'levels of elements'],
  attributes: ['An element', 'attributes'],
  nameLength: ['A tag', 'characters'],
  tokenLength: ['A tag, a comment or a text', 'characters'],
  partElements: ['A header or transaction', 'elements'],
  partCharacters: ['A header or transaction', 'characters'],
};

function checkLimit(name: keyof typeof messageLimits, number: number): void {
  const limit = messageLimits[name];
  if (number <= limit) return;
  const [what, unit] = limitNames[name];
  throw new Refusal('LIMIT_EXCEEDED', `${what} has more than ${limit} ${unit}, which no payment message needs.`);
}

/** Without the place, which a finding has anyway, and without text of the file, which follows a colon. */
function printSyntaxError({ message }: Error): string {
  return message.replace(/^\d+:\d+: /, '').replace(/(?::|\.).*$/s, '');
}
