import { SaxesParser, type SaxesTagNS } from 'saxes';
import { Refusal } from '../finding.ts';
import type { XmlElement } from './elements.ts';
import type { MessageVersion } from './message-versions.ts';

/**
 * The parts of a payment message, in its order. Outer elements (the document, the message in it and its payments) have no children
 * but, in a payment, those before its first transaction.
 */
export interface MessageParts {
  /** @throws Refusal if the document has no message of a version that can be read */
  findVersion(namespace: string): MessageVersion;
  /** A child of the message that is not a payment, such as the group header. */
  header?(element: XmlElement): void;
  /** A payment, with its children up to the first transaction. */
  openPayment?(payment: XmlElement): void;
  transaction?(transaction: XmlElement, version: MessageVersion): void;
  /** With all its children except the transactions. */
  closePayment?(payment: XmlElement, version: MessageVersion): void;
  closeMessage?(message: XmlElement, version: MessageVersion): void;
}

/** Sees elements while they are read. */
export interface ElementEvents {
  /** An element in the namespace of the message. */
  open?(element: XmlElement, tag: SaxesTagNS, version: MessageVersion): void;
  /** An element in another namespace. */
  openForeign?(tag: SaxesTagNS): void;
  text?(text: string): void;
  close?(element: XmlElement): void;
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
export class MessageReader {
  readonly #parser = new SaxesParser({ xmlns: true });
  readonly #parts: MessageParts;
  readonly #listeners: readonly ElementEvents[];
  readonly #onPart: () => void;
  /** The name of the first element, with its prefix. */
  #root: string | null = null;
  /** The open elements of the namespace. */
  readonly #open: XmlElement[] = [];
  /** How many open elements are in another namespace, or within one. */
  #foreignDepth = 0;
  #namespace = '';
  /** Null before the document is open. */
  #version: MessageVersion | null = null;
  #messages = 0;
  #order = 0;
  #payments = 0;
  #transactions = 0;
  #isPaymentOpened = false;
  /** The size of the part that is being read, and that of the header of its payment. */
  #part = { elements: 0, characters: 0 };
  #header = this.#part;
  #attributes = 0;
  /** What was written since the last event, and where it begins. */
  #unread = { text: '', start: 0, line: 1 };
  readonly #eventAt = { position: 0, line: 1 };

  /** @param onPart called when all up to the end of a transaction, or of a payment, was read */
  constructor(parts: MessageParts, listeners: readonly ElementEvents[] = [], onPart = () => {}) {
    this.#parts = parts;
    this.#listeners = listeners;
    this.#onPart = onPart;
    const parser = this.#parser;
    parser.on('error', (error) => this.#refuse(error));
    parser.on('doctype', () => {
      const message = 'The file has a document type declaration. Remove it: payment messages have none.';
      throw new Refusal('DOCTYPE_REFUSED', message);
    });
    parser.on('opentagstart', ({ name }) => {
      checkLimit('nameLength', name.length);
      this.#attributes = 0;
      this.#beginToken();
    });
    parser.on('attribute', () => {
      this.#attributes += 1;
      checkLimit('attributes', this.#attributes);
      this.#beginToken();
    });
    parser.on('opentag', (tag) => this.#openTag(tag));
    parser.on('closetag', () => {
      this.#beginToken();
      if (this.#foreignDepth > 0) this.#foreignDepth -= 1;
      else this.#closeElement();
    });
    for (const event of ['text', 'cdata'] as const) parser.on(event, (text) => this.#addText(text));
    for (const event of ['comment', 'processinginstruction'] as const) parser.on(event, () => this.#beginToken());
  }

  /** @throws Refusal */
  write(text: string): void {
    this.#unread.text += text;
    this.#parser.write(text);
    const { position, line } = this.#eventAt;
    const { text: unread, start } = this.#unread;
    if (position > start) this.#unread = { text: unread.slice(position - start), start: position, line };
    this.#checkToken();
  }

  /** @throws Refusal if the document is not complete */
  end(): void {
    this.#throwIfAmpersand();
    if (this.#open.length > 0) {
      throw new Refusal('TRUNCATED', `The file ends before </${this.#root}>. Send the complete file.`);
    }
    this.#parser.close();
  }

  /** How many characters were read, the line that is being read, from 1, and the innermost element that is open. */
  position(): { offset: number; line: number; element: XmlElement | null } {
    return { offset: this.#parser.position, line: this.#parser.line, element: this.#open.at(-1) ?? null };
  }

  #refuse(error: Error): never {
    this.#checkToken();
    // Without the place, which a finding has anyway, and without text of the file, which follows a colon.
    const problem = error.message.replace(/^\d+:\d+: /, '').replace(/(?::|\.).*$/s, '');
    if (this.#root === null) throw new Refusal('NOT_XML', `The file is not XML: ${problem}.`);
    this.#throwIfAmpersand();
    const advice = problem.includes('tag name') ? ' In a text, write &lt; for <.' : '';
    throw new Refusal('NOT_WELL_FORMED', `The XML has a syntax error: ${problem}.${advice}`);
  }

  #openTag(tag: SaxesTagNS): void {
    this.#root ??= tag.name;
    this.#beginToken();
    const depth = this.#open.length;
    checkLimit('depth', depth + this.#foreignDepth + 1);
    if (depth === 0) this.#namespace = tag.uri;
    if (this.#foreignDepth === 0 && tag.uri === this.#namespace) {
      this.#openElement(tag);
      return;
    }
    if (depth === 1 && this.#foreignDepth === 0 && tag.local === this.#version?.message) {
      const advice = `${tag.local} has another namespace than Document. Give both the same, with or without a prefix.`;
      throw new Refusal('WRONG_ROOT', advice);
    }
    this.#countElement();
    if (this.#foreignDepth === 0) for (const each of this.#listeners) each.openForeign?.(tag);
    this.#foreignDepth += 1;
  }

  #openElement(tag: SaxesTagNS): void {
    let version = this.#version;
    const parent = this.#open.at(-1) ?? null;
    const depth = this.#open.length;
    const isPayment = depth === paymentDepth && tag.local === version?.payment;
    if (isPayment) [this.#payments, this.#transactions, this.#isPaymentOpened] = [this.#payments + 1, 0, false];
    if (depth === paymentDepth) this.#header = this.#part = { elements: 0, characters: 0 };
    const isTransaction =
      depth === paymentDepth + 1 && parent?.name === version?.payment && tag.local === version?.transaction;
    if (isTransaction) {
      if (parent !== null) this.#openPaymentOnce(parent);
      this.#transactions += 1;
      this.#part = { elements: 0, characters: 0 };
    }
    this.#order += 1;
    this.#countElement();
    const element: XmlElement = {
      name: tag.local,
      line: this.#parser.line,
      order: this.#order,
      index: isPayment ? this.#payments : isTransaction ? this.#transactions : null,
      parent,
      children: [],
      attributes: readAttributes(tag),
      text: '',
      prefix: tag.prefix === '' ? '' : `${tag.prefix}:`,
      ...{ start: this.#parser.position, end: 0, allows: allowsAll },
    };
    for (const name in element.attributes) this.#countCharacters(element.attributes[name] ?? '');
    if (parent !== null && depth > paymentDepth && !isTransaction) {
      parent.children.push(element);
      parent.text = '';
    }
    this.#open.push(element);
    version ??= this.#version = this.#parts.findVersion(this.#namespace);
    if (depth < paymentDepth) this.#checkOuter(element.name, depth, version);
    for (const each of this.#listeners) each.open?.(element, tag, version);
  }

  #checkOuter(name: string, depth: number, version: MessageVersion): void {
    if (depth === 0 && name !== 'Document') {
      throw new Refusal('WRONG_ROOT', `The root element is ${name}. It must be Document.`);
    }
    this.#messages += depth;
    if (depth === 0 || (this.#messages === 1 && name === version.message)) return;
    const message = `Document has ${name} in it. ${version.name} has one ${version.message}, and nothing else.`;
    throw new Refusal('WRONG_ROOT', message);
  }

  #closeElement(): void {
    const element = this.#open.pop();
    const depth = this.#open.length;
    const version = this.#version;
    if (element === undefined) return;
    element.end = this.#parser.position;
    for (const each of this.#listeners) each.close?.(element);
    if (version === null || depth > paymentDepth + 1) return;
    if (depth === paymentDepth + 1) {
      if (element.parent?.name !== version.payment || element.name !== version.transaction) return;
      this.#parts.transaction?.(element, version);
      this.#onPart();
      this.#part = this.#header;
    } else if (depth === paymentDepth && element.name === version.payment) {
      this.#openPaymentOnce(element);
      this.#parts.closePayment?.(element, version);
      this.#onPart();
    } else if (depth === paymentDepth) this.#parts.header?.(element);
    else if (depth === 1) this.#parts.closeMessage?.(element, version);
    else if (this.#messages === 0) {
      throw new Refusal('WRONG_ROOT', 'The document has no message in it. Send the complete message.');
    }
  }

  #openPaymentOnce(payment: XmlElement): void {
    if (!this.#isPaymentOpened) this.#parts.openPayment?.(payment);
    this.#isPaymentOpened = true;
  }

  #addText(text: string): void {
    this.#beginToken();
    const element = this.#open.at(-1);
    if (this.#foreignDepth > 0 || element === undefined) return;
    for (const each of this.#listeners) each.text?.(text);
    if (this.#open.length < 3 || element.children.length > 0) return;
    this.#countCharacters(text);
    element.text += text;
  }

  #beginToken(): void {
    this.#checkToken();
    this.#eventAt.position = this.#parser.position;
    this.#eventAt.line = this.#parser.line;
  }

  /** An `&` that begins no reference hides what follows it up to the next semicolon. */
  #throwIfAmpersand(): void {
    const text = this.#unread.text.slice(Math.max(0, this.#eventAt.position - this.#unread.start));
    const { index } = /&(?!(?:#\d{1,7}|#x[\dA-Fa-f]{1,6}|amp|lt|gt|quot|apos);)/.exec(text) ?? {};
    if (this.#root === null || index === undefined || text.slice(0, index).includes('<!')) return;
    const line = this.#eventAt.line + (text.slice(0, index).match(/\n/g)?.length ?? 0);
    const message = `An & in line ${line} is not followed by the name of a character. Write &amp; in its place.`;
    throw new Refusal('NOT_WELL_FORMED', message, line);
  }

  #checkToken(): void {
    // The parser counts a piece twice after its last character.
    const end = Math.min(this.#parser.position, this.#unread.start + this.#unread.text.length);
    const length = end - this.#eventAt.position;
    if (length > messageLimits.tokenLength) this.#throwIfAmpersand();
    checkLimit('tokenLength', length);
  }

  #countElement(): void {
    this.#part.elements += 1;
    checkLimit('partElements', this.#part.elements);
  }

  #countCharacters(text: string): void {
    this.#part.characters += text.length;
    checkLimit('partCharacters', this.#part.characters);
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
