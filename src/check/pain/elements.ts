import { compactIban } from '../../iban/iban.ts';

/** An element of a payment message. */
export interface XmlElement {
  /** Without prefix. */
  readonly name: string;
  /** From 1. */
  readonly line: number;
  /** Its position among all elements of the message, from 1. */
  readonly order: number;
  /** From 1, among the elements of the same name; null if it has to be counted among the children of its parent. */
  readonly index: number | null;
  readonly parent: XmlElement | null;
  readonly children: XmlElement[];
  readonly attributes: Readonly<Record<string, string>>;
  /** Only that of elements without children. */
  text: string;
  /** The prefix of its tags, such as `pain:`; empty without one. */
  readonly prefix: string;
  /** Where its content begins, in characters of the message. */
  readonly start: number;
  /** Where its end tag ends; until then, 0. */
  end: number;
  /** Whether its type allows a text. */
  allows(text: string): boolean;
}

/** The first child of this name, its first child of the next name, and so on; null if there is none. */
export function find(element: XmlElement | null, ...names: readonly string[]): XmlElement | null {
  let found: XmlElement | null = element;
  for (const name of names) found = found?.children.find((child) => child.name === name) ?? null;
  return found;
}

export function findAll(element: XmlElement | null, name: string): readonly XmlElement[] {
  return element?.children.filter((child) => child.name === name) ?? [];
}

/** The text of a number, date or code, without white space around it, as XML Schema reads it; null if it is empty or missing. */
export function textOf(element: XmlElement | null): string | null {
  return element?.text.trim() || null;
}

/** The text of an identification; null if there is none. */
export function idOf(element: XmlElement | null): string | null {
  const id = textOf(element);
  return id === 'NOTPROVIDED' ? null : id;
}

/** The IBAN of an account, such as `CdtrAcct`, compacted; empty if it has none. */
export function ibanOf(account: XmlElement | null): string {
  return compactIban(find(account, 'Id', 'IBAN')?.text ?? '');
}

/** Visits all elements below, in the order of the message. */
export function visitElements(element: XmlElement, visit: (element: XmlElement) => void): void {
  for (const child of element.children) {
    visit(child);
    visitElements(child, visit);
  }
}

/** Such as /Document/CstmrCdtTrfInitn/PmtInf[2]/CdtTrfTxInf[17]/CdtrAcct/Id/IBAN, by names without prefix. */
export function xpathOf(element: XmlElement): string {
  const path: string[] = [];
  for (let current: XmlElement | null = element; current !== null; current = current.parent) {
    path.push(`/${current.name}${printIndex(current)}`);
  }
  return path.reverse().join('');
}

function printIndex(element: XmlElement): string {
  const { index, name, parent } = element;
  if (index !== null) return `[${index}]`;
  if (parent === null) return '';
  const { numbers, totals } = countChildren(parent);
  return (totals.get(name) ?? 0) > 1 ? `[${numbers.get(element)}]` : '';
}

interface ChildCounts {
  /** The position of each child among those of its name, from 1. */
  numbers: Map<XmlElement, number>;
  /** By name. */
  totals: Map<string, number>;
}

/** The children of elements with findings, as far as they were counted: one element may have a thousand of them. */
const counted = new WeakMap<XmlElement, ChildCounts>();

function countChildren(parent: XmlElement): ChildCounts {
  const counts = counted.get(parent) ?? { numbers: new Map(), totals: new Map() };
  counted.set(parent, counts);
  const { numbers, totals } = counts;
  for (let at = numbers.size; at < parent.children.length; at += 1) {
    const child = parent.children[at] as XmlElement;
    const number = (totals.get(child.name) ?? 0) + 1;
    totals.set(child.name, number);
    numbers.set(child, number);
  }
  return counts;
}
