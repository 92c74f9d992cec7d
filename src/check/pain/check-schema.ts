import type { SaxesTagNS } from 'saxes';
import type { RuleCode } from '../finding.ts';
import type { XmlElement } from './elements.ts';
import type { FoundProblem, MessageFindings } from './findings.ts';
import { foreignElements, type MessageVersion } from './message-versions.ts';
import type { Profile } from './profiles.ts';
import type { ElementEvents } from './read-message.ts';
import { countCharacters, type ElementType, findSchema, type SchemaCommunity, type ValueType } from './schema.ts';

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
export class SchemaComparison implements ElementEvents {
  readonly #open: OpenElement[] = [];
  readonly #findings: MessageFindings;
  readonly #community: SchemaCommunity;
  /** What its problems say of themselves. */
  readonly #of: Pick<FoundProblem, 'community'>;
  #version: MessageVersion | null = null;

  /** @param profile with that of German banks, their restrictions hold for the versions of ISO, too */
  constructor(findings: MessageFindings, profile: Profile, of: Pick<FoundProblem, 'community'> = {}) {
    this.#findings = findings;
    this.#community = profile === 'dk' ? 'dk' : 'iso';
    this.#of = of;
  }

  open(element: XmlElement, tag: SaxesTagNS, version: MessageVersion): void {
    this.#version = version;
    const depth = this.#open.length;
    const root = version.isDirectDebit ? 'DebitInitiation' : 'TransferInitiation';
    const ofMessage = depth === 1 ? findSchema(root, version.year, this.#community) : null;
    const type = depth < 2 ? ofMessage : this.#findType(element);
    if (type !== null || depth === 0) this.#checkAttributes(element, tag, type);
    if (type?.kind === 'value') element.allows = type.isValid;
    this.#open.push({ element, type, seen: 0, last: -1, lastCount: 0, hasText: false });
  }

  openForeign({ local, name }: SaxesTagNS): void {
    const parent = this.#open.at(-1);
    if (parent === undefined || parent.type === null || parent.type.kind === 'any') return;
    const index = parent.type.kind === 'value' ? undefined : parent.type.indexes.get(local);
    if (index !== undefined) markSeen(parent, index);
    const message = `${name} in ${parent.element.name} is in another namespace than the message. Leave it out.`;
    this.#add('ELEMENT_NOT_EXPECTED', parent.element, message);
  }

  text(text: string): void {
    const current = this.#open.at(-1);
    if (current === undefined || current.hasText) return;
    const { type, element } = current;
    const isExpected = type === null ? this.#open.length > 1 : type.kind === 'value' || type.kind === 'any';
    if (isExpected || /^[ \t\r\n]*$/.test(text)) return;
    current.hasText = true;
    const message = `${element.name} has text between its elements. Remove it.`;
    this.#add('TEXT_NOT_EXPECTED', element, message, generic);
  }

  close(): void {
    const closed = this.#open.pop();
    if (closed === undefined) return;
    const { element, type } = closed;
    if (type === null || type.kind === 'any') return;
    if (type.kind === 'value') this.#checkValue(element, type);
    else this.#checkComplete(closed, type);
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
      this.#add('ELEMENT_REPEATED', element, message);
    } else if (parent.type.kind === 'choice' && seen !== 0 && !isRepeated) {
      const message = `${parent.element.name} must have only one of ${printNames(parent.type)}.`;
      this.#add('ELEMENT_NOT_EXPECTED', element, message);
    } else if (index < last) {
      const after = parent.type.particles[last]?.name ?? '';
      const message = `${element.name} must be before ${after} in ${parent.element.name}.`;
      this.#add('ELEMENT_ORDER', element, message);
    }
    return particle.findType();
  }

  #reportUnknown(element: XmlElement, parent: XmlElement, has: string): void {
    if (this.#version === null) return;
    const { name, edition } = this.#version;
    const foreign = foreignElements[edition].get(element.name);
    if (foreign !== undefined) {
      this.#add('ELEMENT_OF_OTHER_VERSION', element, `${element.name} is not in ${name}: ${foreign}.`);
      return;
    }
    // Names of elements that no version has may be text of the file.
    const printed = element.name.length <= 40 ? element.name : 'The element';
    const message = `${printed} is not an element of ${parent.name} in ${name}, ${has}.`;
    this.#add('ELEMENT_NOT_EXPECTED', element, message);
  }

  #checkAttributes(element: XmlElement, { attributes }: SaxesTagNS, type: ElementType | ValueType | null): void {
    for (const key in attributes) {
      const { prefix, local, uri } = attributes[key] ?? { prefix: '', local: '', uri: '' };
      if (prefix === 'xmlns' || (prefix === '' && local === 'xmlns')) continue;
      if (uri === schemaInstance && instanceAttributes.has(local)) continue;
      if (prefix === '' && local === 'Ccy' && type?.kind === 'value' && type.isAmount) continue;
      const message = `${element.name} has an attribute that the message definition does not have. Remove it.`;
      this.#add('ATTRIBUTE_NOT_EXPECTED', element, message);
    }
    const isAmount = type?.kind === 'value' && type.isAmount && !checkedWithTotals.has(element.name);
    if (!isAmount || /^[A-Z]{3}$/.test(element.attributes.Ccy ?? '')) return;
    const message = `The attribute Ccy of ${element.name} must be a currency code, such as EUR.`;
    this.#add('CURRENCY_INVALID', element, message, generic);
  }

  #checkValue(element: XmlElement, type: ValueType): void {
    const { name, text, children } = element;
    if (children.length > 0) return;
    if (text.trim() === '') {
      this.#add('EMPTY_ELEMENT', element, `${name} is empty. Fill it in, or leave it out.`);
    } else if (!checkedWithTotals.has(name) && !type.isValid(text)) {
      const length = type.maxLength === null ? 0 : countCharacters(text);
      if (type.maxLength !== null && length > type.maxLength) {
        const message = `${name} has ${length} characters. At most ${type.maxLength} are allowed.`;
        this.#add('TEXT_TOO_LONG', element, message, generic);
      } else this.#add(type.code, element, `${name} must be ${type.words}.`, generic);
    }
  }

  #checkComplete({ element, seen }: OpenElement, { kind, particles, required }: ElementType): void {
    if (kind === 'choice' && seen === 0) {
      const [path = '', ...others] = particles.map(({ name }) => name);
      const message = `${element.name} must have one of ${[path, ...others].join(', ')}.`;
      this.#add('MISSING_ELEMENT', element, message, { ...generic, path });
    }
    if (kind === 'choice' || (required & ~seen) === 0) return;
    for (const [index, { name }] of particles.entries()) {
      if (isSeen(required, index) && !isSeen(seen, index))
        this.#findings.addMissing(element, name, { ...generic, ...this.#of });
    }
  }

  #add(code: RuleCode, element: XmlElement, message: string, more: Partial<FoundProblem> = {}): void {
    this.#findings.addProblem({ code, element, message, ...this.#of, ...more });
  }
}

/** Both schemas, if only some payments of the message may be SEPA payments of German banks. */
export function compareWithSchemas(findings: MessageFindings, profile: Profile): readonly ElementEvents[] {
  if (profile !== 'dk') return [new SchemaComparison(findings, profile)];
  return (['iso', 'dk'] as const).map((each) => new SchemaComparison(findings, each, { community: each }));
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

const generic = { isGeneric: true } as const;

/** Their findings suggest what would be right, which is known after the last transaction. */
const checkedWithTotals: ReadonlySet<string> = new Set(['NbOfTxs', 'CtrlSum']);

const schemaInstance = 'http://www.w3.org/2001/XMLSchema-instance';
const instanceAttributes: ReadonlySet<string> = new Set(['schemaLocation', 'noNamespaceSchemaLocation', 'type']);

function printNames({ particles }: ElementType): string {
  const names = particles.map(({ name }) => name);
  return names.length > 8 ? `${names.slice(0, 8).join(', ')} and others` : names.join(', ');
}
