import { redactIbans } from '../../base/redact.ts';
import { compactIban, isValidIban, maskIban } from '../../iban/iban.ts';
import type { RuleCode } from '../finding.ts';
import { readList } from './code-lists.ts';
import type { Edit, Revision, Source } from './copy-message.ts';
import { find, findAll, ibanOf, type XmlElement, xpathOf } from './elements.ts';
import type { FoundProblem } from './findings.ts';
import { isInEea } from './profiles.ts';
import { readAddressLines } from './read-address-lines.ts';

/** What is changed at an element, and how. */
export type ElementRevision = Pick<Revision, 'code' | 'before' | 'after' | 'edit'>;

/** @param path of an element in it that is missing */
export function placeRevision(revision: ElementRevision, element: XmlElement, path?: string): Revision {
  const xpath = path === undefined ? xpathOf(element) : `${xpathOf(element)}/${path}`;
  return { ...revision, line: element.line, xpath, start: element.start };
}

export function replaceText({ code, element }: FoundProblem, after: string): ElementRevision {
  const { name, start, end, text } = element;
  const show = name === 'IBAN' ? (iban: string) => maskIban(compactIban(iban)) : redactIbans;
  const edit = (source: Source) => {
    if (end === start || !hasOnlyText({ start, end }, source)) return [];
    return [{ start, end: source.lastTag(end), written: source.write(after) }];
  };
  return { code, before: show(text), after: show(after), edit };
}

/** What is certain about elements, and null for all else. @param repaired the texts that differ in the copy */
export function repairElement(
  { code, element, path, isGeneric }: FoundProblem,
  repaired: ReadonlyMap<XmlElement, string>,
): ElementRevision | null {
  if (code === 'ADDRESS_WITHOUT_TOWN') return structureAddress(element, repaired);
  if (code === 'ELEMENT_OF_OTHER_VERSION') return renovateElement(element);
  if (code === 'MISSING_ELEMENT' && path === 'DbtrAgt' && !isGeneric) return addPayerBank(element);
  return code === 'BIC_NOT_PROVIDED' || code === 'PAYEE_BANK_OTHER' ? repairBank(code, element) : null;
}

function addPayerBank(debit: XmlElement): ElementRevision | null {
  const next = debit.children.find(({ name }) => name === 'DbtrAgtAcct' || name === 'Dbtr');
  if (next === undefined || !isIbanEnough(debit, 'Dbtr')) return null;
  const edit = (source: Source) => {
    const at = source.lastTag(next.start);
    const written = writeElements('DbtrAgt/FinInstnId/Othr/Id', 'NOTPROVIDED', debit, source);
    return [{ start: at, end: at, written: written + spaceBefore(at, source) }];
  };
  return { code: 'MISSING_ELEMENT', before: '', after: 'DbtrAgt/FinInstnId/Othr/Id NOTPROVIDED', edit };
}

/** NOTPROVIDED is written in the right element, and the bank of a payee left out. */
function repairBank(code: RuleCode, bank: XmlElement): ElementRevision | null {
  const agent = bank.parent?.parent;
  const part = agent?.parent;
  if (!agent || !part || bank.parent?.children.length !== 1 || !isIbanEnough(part, agent.name.slice(0, 4))) return null;
  if (part.name !== 'CdtTrfTxInf' || agent.name !== 'CdtrAgt') {
    const edit = (source: Source) => [...rename(bank, 'Othr', source), ...fill(bank, 'Id', source)];
    return { code, before: bank.name, after: 'Othr/Id', edit };
  }
  const edit = (source: Source) => {
    const content = source.text(agent.start, source.lastTag(agent.end)).replaceAll(bankTags, '').trim();
    return content === 'NOTPROVIDED' && find(part, 'CdtrAgtAcct') === null ? remove(agent, source) : [];
  };
  return { code, before: `CdtrAgt/FinInstnId/${bank.name} NOTPROVIDED`, after: '', edit };
}

/** Of a bank without anything else. */
const bankTags = /<\/?(?:[^\s<>/]+:)?(?:FinInstnId|BIC|BICFI|Othr|Id)\s*>/g;

/** Banks of the European Economic Area are found by the IBAN alone. */
function isIbanEnough(part: XmlElement, party: string): boolean {
  const iban = ibanOf(find(part, `${party}Acct`));
  return isValidIban(iban) && isInEea(iban.slice(0, 2));
}

/**
 * An address of a country and lines as a structured one; null if it can be read in several ways.
 * @param repaired the texts that differ in the copy
 */
export function structureAddress(
  address: XmlElement,
  repaired: ReadonlyMap<XmlElement, string> = new Map(),
): ElementRevision | null {
  const country = find(address, 'Ctry');
  const lines = findAll(address, 'AdrLine');
  const isOfLines = address.children.every(({ name }) => ['AdrTp', 'Ctry', 'AdrLine'].includes(name));
  if (country === null || !isOfLines || findAll(address, 'Ctry').length > 1) return null;
  const texts = lines.map(({ text }) => text.trim());
  const [code = '', ...written] = [country, ...lines].map((each) => (repaired.get(each) ?? each.text).trim());
  const found = readAddressLines(code, texts);
  const read = readAddressLines(code, written);
  // What replaces a character does not make a line clearer.
  if (!found || !read || Object.keys(found.elements).join() !== Object.keys(read.elements).join()) return null;
  const elements = Object.entries(read.elements);
  const used = lines.filter((_, index) => read.used.includes(index));
  const edit = (source: Source) => {
    if (!used.every((line) => hasOnlyText(line, source))) return [];
    const at = source.lastTag(country.start);
    const space = spaceBefore(at, source);
    const added = elements.map(([name, text]) => writeElements(name, text, address, source) + space);
    return [{ start: at, end: at, written: added.join('') }, ...used.flatMap((line) => remove(line, source))];
  };
  const kept = lines.flatMap((line, index) => (used.includes(line) ? [] : [`AdrLine ${written[index]} (kept)`]));
  const after = [...elements.map(([name, text]) => `${name} ${text}`), ...kept].join(', ');
  return { code: 'ADDRESS_WITHOUT_TOWN', before: redactIbans(texts.join(', ')), after: redactIbans(after), edit };
}

/** An element of 2009 as in 2019; null if it is the same. */
export function renovateElement(element: XmlElement): ElementRevision | null {
  const { name, parent, children } = element;
  if (name === 'RltdRmtInf') return collectDetails(element);
  const to = renovations.get(`${parent?.name}/${name}`);
  if (to === undefined || children.length > 0) return null;
  const [outer = name, inner] = to.split('/');
  const edit = (source: Source) => {
    if (inner === undefined) return rename(element, outer, source);
    // Only the amount has an attribute.
    if (inner === 'Amt') return [...enclose([element], name, source), ...rename(element, inner, source)];
    return fill(element, inner, source);
  };
  return { code: 'ELEMENT_OF_OTHER_VERSION', before: name, after: to, edit };
}

/** By the element in its parent: its other name, or what its text is in. */
const renovations = readList('in 2019');

function collectDetails(element: XmlElement): ElementRevision | null {
  const details = element.children.filter(({ name }) => name.startsWith('RmtLctn'));
  if (details.length === 0 || find(element, 'RmtLctnDtls') !== null) return null;
  const nameOf = ({ name }: XmlElement) => name.slice('RmtLctn'.length);
  const before = details.map(({ name }) => name).join(', ');
  const after = details.map((each) => `RmtLctnDtls/${nameOf(each)}`).join(', ');
  const edit = (source: Source) => [
    ...enclose(details, 'RmtLctnDtls', source),
    ...details.flatMap((each) => rename(each, nameOf(each), source)),
  ];
  return { code: 'ELEMENT_OF_OTHER_VERSION', before, after, edit };
}

/** @param path from the outermost one, such as Othr/Id @param parent has their prefix */
function writeElements(path: string, text: string, parent: XmlElement, source: Source): string {
  const tags = path.split('/').map((name) => parent.prefix + name);
  return tags.reduceRight((content, tag) => `<${tag}>${content}</${tag}>`, source.write(text));
}

/** Whether nothing is lost with its text, such as a comment. */
function hasOnlyText({ start, end }: Pick<XmlElement, 'start' | 'end'>, source: Source): boolean {
  const content = end === start ? '' : source.text(start, source.lastTag(end));
  return !content.replaceAll(/<!\[CDATA\[.*?\]\]>/gs, '').includes('<');
}

/** With the white space before it. */
function remove({ start, end }: XmlElement, source: Source): readonly Edit[] {
  const tag = source.lastTag(start);
  return [{ start: tag - spaceBefore(tag, source).length, end, written: '' }];
}

/** The white space before a tag. */
function spaceBefore(tag: number, source: Source): string {
  return /[ \t\r\n]*$/.exec(source.text(source.lastTag(tag), tag))?.[0] ?? '';
}

function rename(element: XmlElement, name: string, source: Source): readonly Edit[] {
  const { start, end } = element;
  const { length } = element.prefix;
  const replaceAt = (at: number) => ({ start: at, end: at + element.name.length, written: name });
  const inStartTag = replaceAt(source.lastTag(start) + '<'.length + length);
  return end === start ? [inStartTag] : [inStartTag, replaceAt(source.lastTag(end) + '</'.length + length)];
}

/** Puts the content of an element into another one. */
function fill(element: XmlElement, name: string, source: Source): readonly Edit[] {
  const { start, end } = element;
  return end === start ? [] : wrap(start, source.lastTag(end), element.prefix + name);
}

/** Puts elements that follow one another into another one. */
function enclose(elements: readonly XmlElement[], name: string, source: Source): readonly Edit[] {
  const [first, last] = [elements[0], elements.at(-1)];
  if (!first?.parent || last === undefined) return [];
  return wrap(source.lastTag(first.start), last.end, first.parent.prefix + name);
}

function wrap(start: number, end: number, tag: string): readonly Edit[] {
  return [
    { start, end: start, written: `<${tag}>` },
    { start: end, end, written: `</${tag}>` },
  ];
}
