import type { SaxesTagNS } from 'saxes';
import type { XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';
import { foreignElements, type MessageVersion } from './message-versions.ts';
import type { Profile } from './profiles.ts';
import { countCharacters, type ElementType, findSchema, type ValueType } from './schema.ts';

/** Sees elements while they are read. */
export interface SchemaCheck {
  /** An element in the namespace of the message. */
  open(element: XmlElement, tag: SaxesTagNS): void;
  /** The message in the document, after its version was found. */
  openMessage(element: XmlElement, version: MessageVersion, tag: SaxesTagNS): void;
  /** An element in another namespace. */
  openForeign(tag: SaxesTagNS): void;
  text(text: string): void;
  close(): void;
}

/** For messages that are only read. */
export const noSchemaCheck: SchemaCheck = {
  ...{ open() {}, openMessage() {}, openForeign() {}, text() {}, close() {} },
};

/** An element that is open. */
interface OpenElement {
  element: XmlElement;
  /** Null: of no known type, so that nothing in it is checked. */
  type: ElementType | ValueType | null;
  /** Which particles were read: one bit for each. */
  seen: number;
  /** The index of the last particle in order, and how often it was read. */
  last: number;
  lastCount: number;
  hasText: boolean;
}

/** Compares elements with the schema of their message. */
export class SchemaComparison implements SchemaCheck {
  readonly #open: OpenElement[] = [];
  readonly #findings: MessageFindings;
  readonly #profile: Profile;
  #version: MessageVersion | null = null;

  /** @param profile with that of German banks, their restrictions hold for the versions of ISO, too */
  constructor(findings: MessageFindings, profile: Profile) {
    this.#findings = findings;
    this.#profile = profile;
  }

  open(element: XmlElement, tag: SaxesTagNS): void {
    const type = this.#open.length === 0 ? null : this.#findType(element);
    if (type !== null || this.#open.length === 0) this.#checkAttributes(element, tag, type);
    this.#push(element, type);
  }

  openMessage(element: XmlElement, version: MessageVersion, tag: SaxesTagNS): void {
    this.#version = version;
    const root = version.isDirectDebit ? 'DebitInitiation' : 'TransferInitiation';
    const type = findSchema(root, version.year, this.#profile === 'dk' ? 'dk' : 'iso');
    this.#checkAttributes(element, tag, type);
    this.#push(element, type);
  }

  openForeign({ local, name }: SaxesTagNS): void {
    const parent = this.#open.at(-1);
    if (parent === undefined || parent.type === null || parent.type.kind === 'any') return;
    const index = parent.type.kind === 'value' ? undefined : parent.type.indexes.get(local);
    if (index !== undefined) markSeen(parent, index);
    const message = `${name} in ${parent.element.name} is in another namespace than the message. Leave it out.`;
    this.#findings.add('ELEMENT_NOT_EXPECTED', parent.element, message);
  }

  text(text: string): void {
    const current = this.#open.at(-1);
    if (current === undefined || current.hasText) return;
    const { type, element } = current;
    const isExpected = type === null ? this.#open.length > 1 : type.kind === 'value' || type.kind === 'any';
    if (isExpected || /^[ \t\r\n]*$/.test(text)) return;
    current.hasText = true;
    const message = `${element.name} has text between its elements. Remove it.`;
    this.#findings.addGeneric('TEXT_NOT_EXPECTED', element, message);
  }

  close(): void {
    const closed = this.#open.pop();
    if (closed === undefined) return;
    const { element, type } = closed;
    if (type === null || type.kind === 'any') return;
    if (type.kind === 'value') this.#checkValue(element, type);
    else this.#checkComplete(closed, type);
  }

  #push(element: XmlElement, type: ElementType | ValueType | null): void {
    if (type?.kind === 'value') element.allows = type.isValid;
    this.#open.push({ element, type, seen: 0, last: -1, lastCount: 0, hasText: false });
  }

  /** That of its place in its parent, which is checked. */
  #findType(element: XmlElement): ElementType | ValueType | null {
    const parent = this.#open.at(-1);
    if (parent === undefined || parent.type === null || parent.type.kind === 'any') return null;
    if (parent.type.kind === 'value') {
      this.#reportUnknown(element, parent.element, 'which has a text only');
      return null;
    }
    const index = parent.type.indexes.get(element.name);
    const particle = index === undefined ? undefined : parent.type.particles[index];
    if (index === undefined || particle === undefined) {
      this.#reportUnknown(element, parent.element, `which has ${printNames(parent.type)}`);
      return null;
    }
    const { last, seen } = parent;
    const isRepeated = isSeen(seen, index);
    const isTooOften = isRepeated && (index === last ? parent.lastCount >= particle.max : particle.max === 1);
    markSeen(parent, index);
    if (isTooOften) {
      if (index === last && parent.lastCount > particle.max + 1) return particle.findType();
      const most = particle.max === 1 ? 'once' : `${particle.max} times`;
      const message = `${element.name} is given more than ${most} in ${parent.element.name}. Leave out the others.`;
      this.#findings.add('ELEMENT_REPEATED', element, message);
    } else if (parent.type.kind === 'choice' && seen !== 0 && !isRepeated) {
      const message = `${parent.element.name} must have only one of ${printNames(parent.type)}.`;
      this.#findings.add('ELEMENT_NOT_EXPECTED', element, message);
    } else if (index < last) {
      const after = parent.type.particles[last]?.name ?? '';
      const message = `${element.name} must be before ${after} in ${parent.element.name}.`;
      this.#findings.add('ELEMENT_ORDER', element, message);
    }
    return particle.findType();
  }

  #reportUnknown(element: XmlElement, parent: XmlElement, has: string): void {
    if (this.#version === null) return;
    const { name, edition } = this.#version;
    const foreign = foreignElements[edition].get(element.name);
    if (foreign !== undefined) {
      this.#findings.add('ELEMENT_OF_OTHER_VERSION', element, `${element.name} is not in ${name}: ${foreign}.`);
      return;
    }
    const message = `${printName(element)} is not an element of ${parent.name} in ${name}, ${has}.`;
    this.#findings.add('ELEMENT_NOT_EXPECTED', element, message);
  }

  #checkAttributes(element: XmlElement, { attributes }: SaxesTagNS, type: ElementType | ValueType | null): void {
    for (const key in attributes) {
      const { prefix, local, uri } = attributes[key] ?? { prefix: '', local: '', uri: '' };
      if (prefix === 'xmlns' || (prefix === '' && local === 'xmlns')) continue;
      if (uri === schemaInstance && instanceAttributes.has(local)) continue;
      if (prefix === '' && local === 'Ccy' && type?.kind === 'value' && type.isAmount) continue;
      const message = `${element.name} has an attribute that the message definition does not have. Remove it.`;
      this.#findings.add('ATTRIBUTE_NOT_EXPECTED', element, message);
    }
  }

  #checkValue(element: XmlElement, type: ValueType): void {
    const { name, text, children } = element;
    if (children.length > 0) return;
    if (text.trim() === '') {
      this.#findings.add('EMPTY_ELEMENT', element, `${name} is empty. Fill it in, or leave it out.`);
    } else if (!checkedWithTotals.has(name) && !type.isValid(text)) {
      const length = type.maxLength === null ? 0 : countCharacters(text);
      if (type.maxLength !== null && length > type.maxLength) {
        const message = `${name} has ${length} characters. At most ${type.maxLength} are allowed.`;
        this.#findings.addGeneric('TEXT_TOO_LONG', element, message);
      } else this.#findings.addGeneric(type.code, element, `${name} must be ${type.words}.`);
    }
  }

  #checkComplete({ element, seen }: OpenElement, { kind, particles, required }: ElementType): void {
    if (kind === 'choice') {
      const names = particles.map(({ name }) => name);
      if (seen === 0) this.#findings.addMissingBySchema(element, names);
      return;
    }
    if ((required & ~seen) === 0) return;
    for (const [index, { name }] of particles.entries()) {
      if (isSeen(required, index) && !isSeen(seen, index)) this.#findings.addMissingBySchema(element, [name]);
    }
  }
}

function isSeen(bits: number, index: number): boolean {
  return (bits & (1 << index)) !== 0;
}

function markSeen(parent: OpenElement, index: number): void {
  parent.seen |= 1 << index;
  if (index === parent.last) parent.lastCount += 1;
  if (index <= parent.last) return;
  parent.last = index;
  parent.lastCount = 1;
}

/** Their findings suggest what would be right, which is known after the last transaction. */
const checkedWithTotals: ReadonlySet<string> = new Set(['NbOfTxs', 'CtrlSum']);

const schemaInstance = 'http://www.w3.org/2001/XMLSchema-instance';
const instanceAttributes: ReadonlySet<string> = new Set(['schemaLocation', 'noNamespaceSchemaLocation', 'type']);

/** Names of elements that no version has may be text of the file. */
function printName({ name }: XmlElement): string {
  return name.length <= 40 ? name : 'The element';
}

function printNames({ particles }: ElementType): string {
  const names = particles.map(({ name }) => name);
  return names.length > 8 ? `${names.slice(0, 8).join(', ')} and others` : names.join(', ');
}
