import { redactIbans } from '../../base/redact.ts';
import { PaymentFileError } from '../open-file.ts';
import { noSchemaCheck } from './check-schema.ts';
import { type Change, copyMessage, type Edit, type Reviser, type Revision, type Source } from './copy-message.ts';
import { find, findAll, textOf, type XmlElement, xpathOf } from './elements.ts';
import { findVersion, renewedNames, renewNamespace } from './message-versions.ts';
import { readAddressLines } from './read-address-lines.ts';

/**
 * A copy of a message of 2009 in the version of 2019: its namespace, and the elements that have other names or are in others. Addresses of
 * lines become structured if they can be read in one way. Each other byte is as it was.
 * @throws PaymentFileError if it is of another version
 * @throws Refusal if it cannot be read to its end
 */
export function renovateMessage(
  chunks: AsyncIterable<Buffer>,
  { onChange }: { onChange(change: Change): Promise<void> | void },
): AsyncGenerator<Buffer> {
  return copyMessage(chunks, { createReviser: createRenovation, onChange });
}

function createRenovation(revise: (revision: Revision) => void): Reviser {
  const open: XmlElement[] = [];
  const ignore = () => {};
  const add = (element: XmlElement, renovation: Renovation | null) => {
    if (renovation === null) return;
    revise({ ...renovation, line: element.line, xpath: xpathOf(element), start: element.start });
  };
  return {
    parts: {
      openDocument(element, namespace) {
        const version = findVersion(namespace);
        if (version.edition !== 2009) {
          throw new PaymentFileError(`the message is ${version.name}: only messages of 2009 are renovated`);
        }
        const edit = (source: Source) => renewDocument(element, namespace, source);
        add(element, { code: 'VERSION_ENDED', before: namespace, after: renewNamespace(namespace), edit });
        return version;
      },
      ...{ header: ignore, openPayment: ignore, transaction: ignore, closePayment: ignore, closeMessage: ignore },
    },
    schema: {
      ...noSchemaCheck,
      open: (element) => void open.push(element),
      openMessage: (element) => void open.push(element),
      close() {
        const element = open.pop();
        if (element !== undefined) add(element, renovate(element));
      },
    },
    discard: ignore,
  };
}

type Renovation = Pick<Revision, 'code' | 'before' | 'after' | 'edit'>;

/** Null if the element is the same in 2019. */
function renovate(element: XmlElement): Renovation | null {
  const { name, parent, children } = element;
  if (name === 'PstlAdr' || name === 'Adr') return structureAddress(element);
  if (name === 'RltdRmtInf') return collectDetails(element);
  const to = renovations[`${parent?.name}/${name}`];
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

function collectDetails(element: XmlElement): Renovation | null {
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

function structureAddress(address: XmlElement): Renovation | null {
  const country = find(address, 'Ctry');
  const lines = findAll(address, 'AdrLine');
  const isOfLines = address.children.every(({ name }) => ['AdrTp', 'Ctry', 'AdrLine'].includes(name));
  const texts = lines.map(({ text }) => text.trim());
  const read = isOfLines ? readAddressLines(textOf(country) ?? '', texts) : null;
  if (country === null || read === null) return null;
  const elements = Object.entries(read.elements);
  const used = lines.filter((_, index) => read.used.includes(index));
  const edit = (source: Source) => {
    // A comment within a line is not lost.
    if (used.some(({ start, end }) => source.text(start, source.lastTag(end)).includes('<'))) return [];
    const at = source.lastTag(country.start);
    const space = spaceBefore(at, source);
    const prefix = prefixOf(country, source);
    const written = elements.map(
      ([name, text]) => `<${prefix}${name}>${source.write(text)}</${prefix}${name}>${space}`,
    );
    const removed = used.map(({ start, end }) => {
      const tag = source.lastTag(start);
      return { start: tag - spaceBefore(tag, source).length, end, written: '' };
    });
    return [{ start: at, end: at, written: written.join('') }, ...removed];
  };
  const after = elements.map(([name, text]) => `${name} ${text}`).join(', ');
  return { code: 'ADDRESS_UNSTRUCTURED', before: redactIbans(texts.join(', ')), after: redactIbans(after), edit };
}

/** The white space before a tag. */
function spaceBefore(tag: number, source: Source): string {
  return /\s*$/.exec(source.text(source.lastTag(tag), tag))?.[0] ?? '';
}

/** By the element in its parent: its other name, or what its text is in. */
const renovations: Readonly<Record<string, string>> = {
  ...{ 'FinInstnId/BIC': 'BICFI', 'OrgId/BICOrBEI': 'AnyBIC', 'Tax/AdmstnZn': 'AdmstnZone' },
  ...{ 'PmtInf/ReqdExctnDt': 'ReqdExctnDt/Dt', 'PstlAdr/AdrTp': 'AdrTp/Cd', 'Adr/AdrTp': 'AdrTp/Cd' },
  ...{ 'MndtRltdInf/Frqcy': 'Frqcy/Tp', 'AmdmntInfDtls/OrgnlFrqcy': 'OrgnlFrqcy/Tp' },
  ...{ 'RfrdDocAmt/DscntApldAmt': 'DscntApldAmt/Amt', 'RfrdDocAmt/TaxAmt': 'TaxAmt/Amt' },
};

/** The namespace and the places of schemas, which name the version, too. */
function renewDocument({ start }: XmlElement, namespace: string, source: Source): readonly Edit[] {
  const at = source.lastTag(start);
  const written = source
    .text(at, start)
    .replaceAll(namespace, renewNamespace(namespace))
    .replace(...renewedNames);
  return [{ start: at, end: start, written }];
}

function prefixOf({ start }: XmlElement, source: Source): string {
  return /^<([^\s/>]*:)?/.exec(source.text(source.lastTag(start), start))?.[1] ?? '';
}

function rename(element: XmlElement, name: string, source: Source): readonly Edit[] {
  const { start, end } = element;
  const { length } = prefixOf(element, source);
  const replaceAt = (at: number) => ({ start: at, end: at + element.name.length, written: name });
  const inStartTag = replaceAt(source.lastTag(start) + '<'.length + length);
  return end === start ? [inStartTag] : [inStartTag, replaceAt(source.lastTag(end) + '</'.length + length)];
}

/** Puts the content of an element into another one. */
function fill(element: XmlElement, name: string, source: Source): readonly Edit[] {
  const { start, end } = element;
  const prefix = prefixOf(element, source);
  const contentEnd = source.lastTag(end);
  if (end === start) return [];
  return [
    { start, end: start, written: `<${prefix}${name}>` },
    { start: contentEnd, end: contentEnd, written: `</${prefix}${name}>` },
  ];
}

/** Puts elements that follow one another into another one. */
function enclose(elements: readonly XmlElement[], name: string, source: Source): readonly Edit[] {
  const [first, last] = [elements[0], elements.at(-1)];
  if (first === undefined || last === undefined) return [];
  const prefix = prefixOf(first, source);
  const at = source.lastTag(first.start);
  return [
    { start: at, end: at, written: `<${prefix}${name}>` },
    { start: last.end, end: last.end, written: `</${prefix}${name}>` },
  ];
}
