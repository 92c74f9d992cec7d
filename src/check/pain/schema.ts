import {
  type DecimalFacets,
  type SchemaCommunity,
  type SchemaYear,
  schemaCodes,
  schemaDecimals,
  schemaPatterns,
  schemaTables,
} from './schema-tables.ts';
import { parseDate, parseDateTime } from './values.ts';

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

const schemas = new Map<string, ElementType>();

/**
 * The type of the element in `Document`.
 * @param root such as TransferInitiation
 */
export function findSchema(root: string, year: SchemaYear, community: SchemaCommunity): ElementType {
  const key = `${root} ${year} ${community}`;
  const known = schemas.get(key);
  if (known !== undefined) return known;
  const lines = readLines(schemaTables(year, community));
  const type = createTypes(lines)(root);
  if (type.kind === 'value') throw new Error(`${root} must have elements`);
  schemas.set(key, type);
  return type;
}

interface TypeLine {
  kind: '=' | '|';
  elements: readonly string[];
}

/** By the names of the types. Lines that begin with more white space continue the one before. */
export function readLines(tables: readonly string[]): ReadonlyMap<string, TypeLine> {
  const lines = tables.flatMap((table) => table.replaceAll(/\n {4}/g, ' ').split('\n'));
  const written = lines.map((line) => line.trim().split(/ +/)).filter(([name]) => name !== '');
  const types = new Map<string, TypeLine>();
  for (const [name = '', kind, ...elements] of written) {
    const former = types.get(name);
    if (kind !== '~') types.set(name, { kind: kind === '|' ? '|' : '=', elements });
    else if (former === undefined) throw new Error(`${name} must be in an earlier table`);
    else types.set(name, { ...former, elements: changeElements(former.elements, elements) });
  }
  return types;
}

/** As `~` in the tables says; changes of elements that a version does not have are ignored. */
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
function createTypes(lines: ReadonlyMap<string, TypeLine>): (name: string) => ElementType | ValueType {
  const types = new Map<string, ElementType | ValueType>([
    ['Any', { kind: 'any', particles: [], indexes: new Map(), required: 0 }],
  ]);
  return function createType(name) {
    const known = types.get(name);
    if (known !== undefined) return known;
    const line = lines.get(name);
    const type = line === undefined ? createValueType(name) : createElementType(line);
    types.set(name, type);
    return type;

    function createElementType({ kind, elements }: TypeLine): ElementType {
      const particles = elements.map((element) => {
        const { type, ...particle } = readParticle(element);
        // On first use: a message has few of the types.
        return { ...particle, findType: () => createType(type) };
      });
      const indexes = new Map(particles.map((particle, index) => [particle.name, index]));
      const required = particles.reduce((bits, { min }, index) => (min > 0 ? bits | (1 << index) : bits), 0);
      if (particles.length > 31) throw new Error(`${name} must have at most 31 elements`);
      return { kind: kind === '|' ? 'choice' : 'sequence', particles, indexes, required };
    }
  };
}

/** @param text such as Authstn{0,2}:Authorisation */
export function readParticle(text: string): { name: string; min: number; max: number; type: string } {
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

function createValueType(name: string): ValueType {
  const common = { kind: 'value', isAmount: name.endsWith('Amount'), maxLength: null, code: 'WRONG_VALUE' } as const;
  const create = (words: string, isValid: ValueType['isValid'], more: Partial<ValueType> = {}): ValueType => {
    return { ...common, words, isValid, ...more };
  };
  const [, length] = /^Max(\d+)Text$/.exec(name) ?? [];
  if (length !== undefined) {
    const max = Number(length);
    const isValid = (text: string) => text !== '' && countCharacters(text) <= max;
    return create(`a text of 1 to ${max} characters`, isValid, { maxLength: max });
  }
  const codes = schemaCodes[name]?.split(' ');
  if (codes !== undefined) return create(printCodes(codes), (text) => codes.includes(text));
  const [pattern, words = ''] = schemaPatterns[name] ?? [];
  if (pattern !== undefined) {
    const expression = new RegExp(`^(?:${pattern})$`);
    return create(words, (text) => expression.test(text));
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

function printCodes(codes: readonly string[]): string {
  return codes.length === 1 ? `${codes[0]}` : `${codes.slice(0, -1).join(', ')} or ${codes.at(-1)}`;
}

/** XML Schema does so for all values but texts. */
function collapse(text: string): string {
  return /[ \t\r\n]/.test(text) ? text.replaceAll(/[ \t\r\n]+/g, ' ').replaceAll(/^ | $/g, '') : text;
}

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
