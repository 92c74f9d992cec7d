import { readLines, readParticle } from '../../../src/check/pain/schema.ts';
import type { SchemaCommunity, SchemaYear } from '../../../src/check/pain/schema-tables.ts';
import { schemaCodes, schemaDecimals, schemaPatterns, schemaTables } from '../../../src/check/pain/schema-tables.ts';
import type { Node } from './mutate-xml.ts';

/* An XML Schema, and a message with each of its types once, from the tables of a version. */

interface Schema {
  lines: ReturnType<typeof readLines>;
  /** The element in `Document`, and its type. */
  message: string;
  root: string;
}

export function readSchema(message: string, year: SchemaYear, community: SchemaCommunity): Schema {
  const root = message === 'CstmrCdtTrfInitn' ? 'TransferInitiation' : 'DebitInitiation';
  return { lines: readLines(schemaTables(year, community)), message, root };
}

export function printSchema({ lines, message, root }: Schema, namespace: string): string {
  const printed = new Map<string, string>();
  const visit = (name: string) => {
    if (printed.has(name) || name === 'Any') return;
    printed.set(name, '');
    const line = lines.get(name);
    if (line === undefined) {
      printed.set(name, printValueType(name));
      return;
    }
    const elements = line.elements.map(readParticle).map(({ name: element, min, max, type }) => {
      visit(type);
      const occurs = `minOccurs="${min}" maxOccurs="${Number.isFinite(max) ? max : 'unbounded'}"`;
      return type === 'Any'
        ? `<xs:element name="${element}" ${occurs}><xs:complexType><xs:sequence><xs:any processContents="lax"/></xs:sequence></xs:complexType></xs:element>`
        : `<xs:element name="${element}" type="${type}" ${occurs}/>`;
    });
    const group = line.kind === '|' ? 'choice' : 'sequence';
    printed.set(
      name,
      `<xs:complexType name="${name}"><xs:${group}>${elements.join('')}</xs:${group}></xs:complexType>`,
    );
  };
  visit(root);
  return `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns="${namespace}" targetNamespace="${namespace}" elementFormDefault="qualified">
<xs:element name="Document"><xs:complexType><xs:sequence><xs:element name="${message}" type="${root}"/></xs:sequence></xs:complexType></xs:element>
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
  const codes = schemaCodes[name];
  if (codes !== undefined) return restrict(name, 'string', { pattern: codes.replaceAll(' ', '|') });
  const pattern = schemaPatterns[name]?.[0];
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
export function createSample({ lines, message, root }: Schema, namespace: string): Node {
  const seen = new Set<string>();
  const create = (name: string, type: string): Node => {
    const attributes: Record<string, string> = type.endsWith('Amount') && !lines.has(type) ? { Ccy: 'EUR' } : {};
    const line = lines.get(type);
    if (type === 'Any')
      return { name, attributes, children: [{ name: 'Own', attributes: {}, children: [], text: 'x' }], text: null };
    if (line === undefined) return { name, attributes, children: [], text: sampleOf(type) };
    const isFirst = !seen.has(type);
    seen.add(type);
    const particles = line.elements.map(readParticle);
    const chosen = line.kind === '|' ? particles.slice(0, 1) : particles.filter(({ min }) => isFirst || min > 0);
    return { name, attributes, children: chosen.map((particle) => create(particle.name, particle.type)), text: null };
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
  return schemaCodes[type]?.split(' ')[0] ?? samples[type] ?? '1';
}
