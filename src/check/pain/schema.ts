import { readRows } from './code-lists.ts';
import { parseDate, parseDateTime } from './values.ts';

/* Messages of ISO 20022, by the table message-types.tsv. */

/** A type with elements. Each name occurs once, so the order of a sequence is that of the names. */
export interface ElementType {
  kind: 'sequence' | 'choice' | 'any';
  particles: readonly Particle[];
  /** The index of each particle. */
  indexes: ReadonlyMap<string, number>;
  /** Which particles are mandatory: one bit for each, so that there are at most 31. */
  required: number;
}

interface Particle {
  name: string;
  min: number;
  max: number;
  findType(): ElementType | ValueType;
}

/** A type with a text. */
export interface ValueType {
  kind: 'value';
  /** That of the table, or of a type without a row there. */
  name: string;
  /** Whether it has the attribute `Ccy`. */
  isAmount: boolean;
  /** How long the text may be; null if other rules decide. */
  maxLength: number | null;
  isValid(text: string): boolean;
  /** The code of the finding about another text. */
  code: 'DATE_FORMAT' | 'WRONG_VALUE';
  /** What it must be, such as "a date such as 2026-11-30". */
  words: string;
}

/** The year since which a version has its elements. */
export type SchemaYear = 2009 | 2017 | 2019 | 2021 | 2022 | 2023 | 2025;

/** Whose restrictions a message follows: none, or those of German banks. */
export type SchemaCommunity = 'iso' | 'dk';

const schemas = new Map<string, ElementType>();

/**
 * The type of the element in `Document`.
 * @param root such as TransferInitiation
 */
export function findSchema(root: string, year: SchemaYear, community: SchemaCommunity): ElementType {
  const key = `${root} ${year} ${community}`;
  const known = schemas.get(key);
  if (known !== undefined) return known;
  const type = createTypes(readTypes(year, community))(root);
  if (type.kind === 'value') throw new Error(`${root} must have elements`);
  schemas.set(key, type);
  return type;
}

interface TypeRow {
  kind: 'sequence' | 'choice' | 'codes' | 'pattern';
  /** Elements, codes, or the pattern. */
  content: readonly string[];
  /** What a pattern is. */
  words: string;
}

/** The rows of a version, by the names of types: later ones replace earlier ones. */
function readTypes(year: SchemaYear, community: SchemaCommunity): ReadonlyMap<string, TypeRow> {
  const german = ['dk', year === 2009 ? 'dk 2009' : 'dk 2019'];
  const types = new Map<string, TypeRow>();
  for (const [since = '', name = '', kind = '', text = '', words = ''] of readRows('message-types.tsv')) {
    if (!(Number(since) <= year || (community === 'dk' && german.includes(since)))) continue;
    const former = types.get(name);
    const content = kind === 'pattern' ? [text] : text.split(' ');
    if (kind !== 'changes') types.set(name, { kind: kind as TypeRow['kind'], content, words });
    else if (former !== undefined) types.set(name, { ...former, content: changeElements(former.content, content) });
  }
  return types;
}

/** As the table says; changes of elements that a version does not have are ignored. */
function changeElements(elements: readonly string[], changes: readonly string[]): readonly string[] {
  let changed = elements;
  for (const text of changes) {
    const [, name, added, occurrence = '', type] = /^(\w+)(?:>(.+)|([!?*]?)(:\w+)?)$/.exec(text) ?? [];
    changed = changed.flatMap((element) => {
      const [, elementName, former = '', formerType = ''] = /^(\w+)(.*?)(:\w+)$/.exec(element) ?? [];
      if (elementName !== name) return element;
      if (added !== undefined) return [element, added];
      const mandatory = former === '*' ? '+' : '';
      return `${name}${occurrence === '!' ? mandatory : occurrence || former}${type ?? formerType}`;
    });
  }
  return changed;
}

/** Types refer to others, which are created once. */
function createTypes(rows: ReadonlyMap<string, TypeRow>): (name: string) => ElementType | ValueType {
  const types = new Map<string, ElementType | ValueType>([
    ['Any', { kind: 'any', particles: [], indexes: new Map(), required: 0 }],
  ]);
  return function createType(name) {
    const known = types.get(name);
    if (known !== undefined) return known;
    const row = rows.get(name);
    const hasElements = row?.kind === 'sequence' || row?.kind === 'choice';
    const type = hasElements ? createElementType(row.kind === 'choice', row.content) : createValueType(name, row);
    types.set(name, type);
    return type;

    function createElementType(isChoice: boolean, elements: readonly string[]): ElementType {
      const particles = elements.map((element) => {
        const { type, ...particle } = readParticle(element);
        // On first use: a message has few of the types.
        return { ...particle, findType: () => createType(type) };
      });
      const indexes = new Map(particles.map((particle, index) => [particle.name, index]));
      const required = particles.reduce((bits, { min }, index) => (min > 0 ? bits | (1 << index) : bits), 0);
      if (particles.length > 31) throw new Error(`${name} must have at most 31 elements`);
      return { kind: isChoice ? 'choice' : 'sequence', particles, indexes, required };
    }
  };
}

/** @param text such as Authstn{0,2}:Authorisation */
function readParticle(text: string): { name: string; min: number; max: number; type: string } {
  const [, name = '', occurrence = '', type = ''] = /^(\w+)(\?|\*|\+|\{\d,\d+\})?:(\w+)$/.exec(text) ?? [];
  if (name === '') throw new Error(`${text} must be an element of a table`);
  const [min = 1, max = 1] = occurrences[occurrence] ?? occurrence.match(/\d+/g)?.map(Number) ?? [];
  return { name, min, max, type };
}

const occurrences: Readonly<Record<string, readonly [min: number, max: number]>> = {
  '?': [0, 1],
  '*': [0, Number.POSITIVE_INFINITY],
  '+': [1, Number.POSITIVE_INFINITY],
};

function createValueType(name: string, row: TypeRow | undefined): ValueType {
  const create = (words: string, isValid: ValueType['isValid'], more: Partial<ValueType> = {}): ValueType => ({
    ...{ kind: 'value', name, isAmount: name.endsWith('Amount'), maxLength: null, code: 'WRONG_VALUE' },
    ...{ words, isValid, ...more },
  });
  const [, length] = /^Max(\d+)Text$/.exec(name) ?? [];
  if (length !== undefined) {
    const max = Number(length);
    const isValid = (text: string) => text !== '' && countCharacters(text) <= max;
    return create(`a text of 1 to ${max} characters`, isValid, { maxLength: max });
  }
  const codes = row?.content.join(', ').replace(/, (?!.*, )/, ' or ');
  if (row?.kind === 'codes') return create(`${codes}`, (text) => row.content.includes(text));
  if (row !== undefined) {
    const expression = new RegExp(`^(?:${row.content[0]})$`);
    return create(row.words, (text) => expression.test(text));
  }
  const decimal: DecimalFacets | undefined = Object.entries(schemaDecimals).find(([key]) => key === name)?.[1];
  if (decimal !== undefined) {
    const printed = `a number with a decimal point, at most ${decimal.digits} digits and ${decimal.decimals} decimals`;
    return create(printed, (text) => isXmlDecimal(text, decimal));
  }
  const other = otherTypes[name];
  if (other === undefined) throw new Error(`${name} must be a type of the tables`);
  const code = name.startsWith('ISO') ? 'DATE_FORMAT' : 'WRONG_VALUE';
  return create(other.words, (text) => other.isValid(collapse(text)), { code });
}

const otherTypes: Readonly<Record<string, Pick<ValueType, 'isValid' | 'words'>>> = {
  ISODate: { words: 'a date such as 2026-11-30', isValid: (text) => parseDate(text) !== null },
  ISODateTime: {
    words: 'a date and time such as 2026-11-30T09:30:00',
    isValid: (text) => parseDateTime(text) !== null,
  },
  ISOYear: { words: 'a year such as 2026', isValid: (text) => parseDate(text.replace(/^\d{4}/, '$&-01-01')) !== null },
  Indicator: { words: 'true or false', isValid: (text) => /^(true|false|1|0)$/.test(text) },
  Binary: {
    words: 'base64',
    isValid: (text) => text !== '' && /^(?:[A-Za-z0-9+/] ?)*(?:= ?){0,2}$/.test(text),
  },
};

/** XML Schema does so for all values but texts. */
function collapse(text: string): string {
  return /[ \t\r\n]/.test(text) ? text.replaceAll(/[ \t\r\n]+/g, ' ').replaceAll(/^ | $/g, '') : text;
}

interface DecimalFacets {
  /** Leading zeros, and those at the end of the decimals, do not count. */
  digits: number;
  decimals: number;
  min?: number;
}

/** Numbers by the name of their type. */
export const schemaDecimals = {
  Amount: { digits: 18, decimals: 5, min: 0 },
  DecimalNumber: { digits: 18, decimals: 17 },
  Number: { digits: 18, decimals: 0 },
  Rate: { digits: 11, decimals: 10 },
} as const satisfies Record<string, DecimalFacets>;

/** Whether a text is an `xs:decimal` within these limits. */
export function isXmlDecimal(text: string, { digits, decimals, min }: DecimalFacets): boolean {
  const [, whole = '', fraction = ''] = /^[+-]?(\d*)\.?(\d*)$/.exec(collapse(text)) ?? [];
  if (whole === '' && fraction === '') return false;
  const shown = fraction.replace(/0+$/, '');
  const isInside = min === undefined || Number(text) >= min;
  return isInside && shown.length <= decimals && whole.replace(/^0+/, '').length + shown.length <= digits;
}

/** Characters beyond U+FFFF count once, as in XML Schema. */
export function countCharacters(text: string): number {
  return text.length > 16 ? [...text].length : text.length;
}
