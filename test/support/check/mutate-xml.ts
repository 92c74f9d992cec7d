import { readFileSync } from 'node:fs';
import { SaxesParser } from 'saxes';
import {
  type ElementType,
  findSchema,
  type SchemaCommunity,
  type SchemaYear,
  schemaDecimals,
  type ValueType,
} from '../../../src/check/pain/schema.ts';
import { rightMessage, type Version } from './pain-messages.ts';

/** An element of a message that a test changes. White space between elements is left out. */
export interface Node {
  name: string;
  attributes: Record<string, string>;
  children: Node[];
  /** Null: it has elements. */
  text: string | null;
}

export function parseXml(xml: string): Node {
  const root: Node = { name: '', attributes: {}, children: [], text: null };
  const open = [root];
  const parser = new SaxesParser();
  parser.on('opentag', ({ name, attributes }) => {
    const node = { name, attributes: { ...attributes }, children: [], text: null };
    open.at(-1)?.children.push(node);
    open.push(node);
  });
  for (const event of ['text', 'cdata'] as const) {
    parser.on(event, (text) => {
      const node = open.at(-1);
      if (node !== undefined && node.children.length === 0) node.text = (node.text ?? '') + text;
    });
  }
  parser.on('closetag', () => {
    const node = open.pop();
    if (node !== undefined && node.children.length > 0) node.text = null;
  });
  parser.write(xml).close();
  const [document] = root.children;
  if (document === undefined) throw new Error('the message must have a root element');
  return document;
}

export function printXml({ name, attributes, children, text }: Node): string {
  const printed = Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`);
  const content =
    text === null ? children.map(printXml).join('\n') : text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return name === '' ? content : `<${name}${printed.join('')}>${content}</${name}>`;
}

/** The first element at a path in the message of a document, such as GrpHdr/MsgId, and its parent; null if there is none. */
export function findNode(document: Node, path: string): { node: Node; parent: Node } | null {
  const [message] = document.children;
  if (message === undefined) return null;
  let found: { node: Node; parent: Node }[] = [{ node: message, parent: document }];
  for (const name of path.split('/').filter((each) => each !== '')) {
    found = found.flatMap(({ node }) =>
      node.children.filter((child) => child.name === name).map((child) => ({ node: child, parent: node })),
    );
  }
  return found[0] ?? null;
}

const stray: Node = { name: '', attributes: {}, children: [], text: 'abc' };
const unknown: Node = { name: 'Foo', attributes: {}, children: [], text: '' };

/** What is done to an element; in place. */
export const changes: Readonly<Record<string, (found: { node: Node; parent: Node }) => void>> = {
  remove: ({ node, parent }) => void parent.children.splice(parent.children.indexOf(node), 1),
  rename: ({ node }) => {
    node.name += 'X';
  },
  duplicate: ({ node, parent }) => void parent.children.splice(parent.children.indexOf(node), 0, node),
  'swap-next': ({ node, parent }) => {
    const index = parent.children.indexOf(node);
    const next = parent.children[index + 1];
    if (next !== undefined) parent.children.splice(index, 2, next, node);
  },
  'move-to-end': ({ node, parent }) => {
    parent.children.splice(parent.children.indexOf(node), 1);
    parent.children.push(node);
  },
  attribute: ({ node }) => {
    node.attributes.foo = 'bar';
  },
  'other-namespace': ({ node }) => {
    node.name = `x:${node.name}`;
    node.attributes['xmlns:x'] = 'urn:x';
  },
  'unknown-child': ({ node }) => void node.children.push(unknown),
  'stray-text-first': ({ node }) => void node.children.unshift(stray),
  'stray-text-last': ({ node }) => void node.children.push(stray),
  'text-for-children': ({ node }) => {
    node.children = [];
    node.text = 'abc';
  },
  emptied: ({ node }) => {
    node.children = [];
    node.text = '';
  },
  empty: ({ node }) => {
    node.text = '';
  },
  'child-in-leaf': ({ node }) => {
    node.children = [{ ...stray, text: node.text ?? '' }, unknown];
    node.text = null;
  },
  'bad-value': ({ node }) => {
    node.text = '?';
  },
  'long-200': ({ node }) => {
    node.text = 'A'.repeat(200);
  },
  lower: ({ node }) => {
    node.text = node.text?.toLowerCase() ?? null;
  },
  'space-padded': ({ node }) => {
    node.text = ` ${node.text} `;
  },
  'newline-padded': ({ node }) => {
    node.text = `\n   ${node.text}\n  `;
  },
};

/**
 * The right message with the elements that the verdicts of `test/data/pain-mutations.json` are about, in one payment. It has no
 * finding on 26 November 2026.
 */
export function detailedMessage(version: Version): Node {
  const isDebit = version.startsWith('pain.008');
  const [head = '', first = '', second = ''] = rightMessage(version)
    .replaceAll(/<PmtInf>(?:(?!<PmtInf>).)*PAYMENT-2.*<\/PmtInf>/gs, '')
    .replaceAll('<NbOfTxs>3<', '<NbOfTxs>2<')
    .replaceAll('>1112.35<', '>112.35<')
    .split(/(?=<(?:CdtTrf|DrctDbt)TxInf>)/);
  const tail = second.slice(second.search(/<\/PmtInf>/));
  const other = second.slice(0, second.length - tail.length);
  const bic = version.endsWith('.03') || version.endsWith('.02') ? 'BIC' : 'BICFI';
  const payment = head
    .replace('</PmtMtd>', '</PmtMtd><BtchBookg>true</BtchBookg>')
    .replace(
      '<ChrgBr>',
      `<Ultmt${isDebit ? 'Cdtr' : 'Dbtr'}><Nm>Ink Holding</Nm></Ultmt${isDebit ? 'Cdtr' : 'Dbtr'}><ChrgBr>`,
    )
    .replace(/(?<=<DbtrAcct>.*?<\/Id>)(?=<\/DbtrAcct>)/, '<Ccy>EUR</Ccy>')
    .replace(/(?<=<PstlAdr>)<StrtNm>.*(?=<TwnNm>)/, address)
    .replace(version === 'pain.001.001.03' ? /<PstlAdr>.*<\/PstlAdr>/ : '', '');
  const add = (text: string, number: number) =>
    text
      .replace('<Othr><Id>NOTPROVIDED</Id></Othr>', `<${bic}>PSSTFRPPPAR</${bic}>`)
      .replace(/(?<=<PstlAdr>).*(?=<\/PstlAdr>)/, `${address}<TwnNm>Paris</TwnNm><Ctry>FR</Ctry>`)
      .replace(version === 'pain.001.001.03' ? /<PstlAdr>.*<\/PstlAdr>/ : '', '')
      .replace(
        '<RmtInf>',
        `<Ultmt${isDebit ? 'Dbtr' : 'Cdtr'}><Nm>Paper Holding</Nm></Ultmt${isDebit ? 'Dbtr' : 'Cdtr'}><Purp><Cd>SUPP</Cd></Purp><RmtInf>`,
      )
      .replace('</DtOfSgntr>', number === 2 ? `</DtOfSgntr>${amendment}` : '</DtOfSgntr>')
      .replace(/<Ustrd>.*<\/Ustrd>/, number === 2 && !isDebit ? structured : '$&');
  return parseXml(`${payment}${add(first, 1)}${add(other, 2)}${tail}`);
}

const address = '<StrtNm>Rue de la Plume</StrtNm><BldgNb>3</BldgNb><PstCd>75002</PstCd>';
const amendment = '<AmdmntInd>true</AmdmntInd><AmdmntInfDtls><OrgnlMndtId>EARLIER-2</OrgnlMndtId></AmdmntInfDtls>';
const structured =
  '<Strd><CdtrRefInf><Tp><CdOrPrtry><Cd>SCOR</Cd></CdOrPrtry><Issr>ISO</Issr></Tp><Ref>RF18539007547034</Ref></CdtrRefInf></Strd>';

export function printMessage(document: Node): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${printXml(document)}\n`;
}

/* An XML Schema, and a message with each of its types once, from the tables of a version. */

interface Schema {
  /** The element in `Document`, and its type. */
  message: string;
  root: ElementType;
}

export function readSchema(message: string, year: SchemaYear, community: SchemaCommunity): Schema {
  const root = message === 'CstmrCdtTrfInitn' ? 'TransferInitiation' : 'DebitInitiation';
  return { message, root: findSchema(root, year, community) };
}

/** Codes and patterns of values, as patterns. */
const patterns: ReadonlyMap<string, string> = new Map(
  readFileSync('src/check/pain/message-types.tsv', 'utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([, , kind]) => kind === 'codes' || kind === 'pattern')
    .map(([, name = '', kind, text = '']) => [name, kind === 'codes' ? text.replaceAll(' ', '|') : text] as const),
);

export function printSchema({ message, root }: Schema, namespace: string): string {
  const names = new Map<ElementType, string>();
  const printed = new Map<string, string>();
  const nameOf = (type: ElementType | ValueType): string => {
    if (type.kind === 'value') {
      if (!printed.has(type.name)) printed.set(type.name, printValueType(type.name));
      return type.name;
    }
    const name = names.get(type) ?? `Type${names.size}`;
    if (!names.has(type)) {
      names.set(type, name);
      printed.set(name, printElementType(name, type));
    }
    return name;
  };
  const printElementType = (name: string, { kind, particles }: ElementType) => {
    const elements = particles.map(({ name: element, min, max, findType }) => {
      const type = findType();
      const occurs = `minOccurs="${min}" maxOccurs="${Number.isFinite(max) ? max : 'unbounded'}"`;
      return type.kind === 'any'
        ? `<xs:element name="${element}" ${occurs}><xs:complexType><xs:sequence><xs:any processContents="lax"/></xs:sequence></xs:complexType></xs:element>`
        : `<xs:element name="${element}" type="${nameOf(type)}" ${occurs}/>`;
    });
    return `<xs:complexType name="${name}"><xs:${kind}>${elements.join('')}</xs:${kind}></xs:complexType>`;
  };
  const type = nameOf(root);
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="${namespace}" targetNamespace="${namespace}" elementFormDefault="qualified">
<xs:element name="Document"><xs:complexType><xs:sequence><xs:element name="${message}" type="${type}"/></xs:sequence></xs:complexType></xs:element>
${[...printed.values()].join('\n')}</xs:schema>`;
}

function printValueType(name: string): string {
  const restrict = (type: string, base: string, facets: Record<string, string | number | undefined>) =>
    `<xs:simpleType name="${type}"><xs:restriction base="xs:${base}">${Object.entries(facets)
      .filter(([, value]) => value !== undefined)
      .map(([facet, value]) => `<xs:${facet} value="${String(value).replaceAll('&', '&amp;')}"/>`)
      .join('')}</xs:restriction></xs:simpleType>`;
  const [, maxLength] = /^Max(\d+)Text$/.exec(name) ?? [];
  if (maxLength !== undefined) return restrict(name, 'string', { minLength: 1, maxLength });
  const pattern = patterns.get(name);
  if (pattern !== undefined) return restrict(name, 'string', { pattern });
  const decimal = Object.entries(schemaDecimals).find(([key]) => key === name)?.[1];
  if (decimal !== undefined) {
    const { digits: totalDigits, decimals: fractionDigits, ...limits } = decimal;
    const facets = { totalDigits, fractionDigits, minInclusive: 'min' in limits ? limits.min : undefined };
    if (!name.endsWith('Amount')) return restrict(name, 'decimal', facets);
    return `${restrict(`${name}Number`, 'decimal', facets)}<xs:complexType name="${name}"><xs:simpleContent><xs:extension base="${name}Number"><xs:attribute name="Ccy" use="required"/></xs:extension></xs:simpleContent></xs:complexType>`;
  }
  return restrict(name, builtInTypes[name] ?? 'string', name === 'Binary' ? { minLength: 1 } : {});
}

const builtInTypes: Readonly<Record<string, string>> = {
  ISODate: 'date',
  ISODateTime: 'dateTime',
  ISOYear: 'gYear',
  Indicator: 'boolean',
  Binary: 'base64Binary',
};

/** Each type in full where it is first; after that, what is mandatory. */
export function createSample({ message, root }: Schema, namespace: string): Node {
  const seen = new Set<ElementType>();
  const create = (name: string, type: ElementType | ValueType): Node => {
    if (type.kind === 'value') {
      return { name, attributes: type.isAmount ? { Ccy: 'EUR' } : {}, children: [], text: sampleOf(type.name) };
    }
    if (type.kind === 'any')
      return { name, attributes: {}, children: [{ name: 'Own', attributes: {}, children: [], text: 'x' }], text: null };
    const isFirst = !seen.has(type);
    seen.add(type);
    const { particles } = type;
    const chosen = type.kind === 'choice' ? particles.slice(0, 1) : particles.filter(({ min }) => isFirst || min > 0);
    const children = chosen.map((particle) => create(particle.name, particle.findType()));
    return { name, attributes: {}, children, text: null };
  };
  return { name: 'Document', attributes: { xmlns: namespace }, children: [create(message, root)], text: null };
}

const samples: Readonly<Record<string, string>> = {
  ...{
    BIC: 'COBADEFF',
    BICOf2014: 'COBADEFF',
    Country: 'DE',
    Currency: 'EUR',
    FourCharacters: 'AB12',
    ...{ LEI: '529900T8BM49AURSDO55', UTI: '529900T8BM49AURSDO55ABC' },
  },
  ...{
    IBAN: 'DE89370400440532013000',
    PhoneNumber: '+49-301234567',
    TwoDigits: '12',
    Indicator: 'true',
    Binary: 'YWJj',
  },
  ...{ UETR: '8a562c67-ca16-48ba-b074-65581be6f001', ISODate: '2026-11-30', ISODateTime: '2026-11-30T09:30:00Z' },
  ...{ ISOYear: '2026', Identification: 'ID 1' },
  ...{ CreditorIdentification: 'DE98ZZZ09999999999' },
};

function sampleOf(type: string): string {
  if (/^Max\d+Text$/.test(type)) return 'Text';
  // The first of its codes.
  return samples[type] ?? /^[A-Z0-9]+(?=\||$)/.exec(patterns.get(type) ?? '')?.[0] ?? '1';
}
