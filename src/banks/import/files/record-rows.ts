import { count } from '../../../base/process/terminal.ts';
import { type BankFile, chain, ImportError, type Row } from './bank-file.ts';
import type { Layout } from './bank-file-format.ts';
import { type DecodedText, decodeBankFile } from './decode-bank-file.ts';
import { maxLineLength, maxLines, undecodable } from './text-rows.ts';

/**
 * Streams the entries of a JSON or XML file as rows. The first row has the names of the fields in the first entries.
 * @throws ImportError
 */
export async function* readRecordRows(
  file: BankFile,
  layout: Extract<Layout, { kind: 'json' | 'xml' }>,
): AsyncGenerator<Row> {
  const text = decodeBankFile(file, layout.encoding);
  const entries = layout.kind === 'json' ? jsonEntries(file, text) : xmlEntries(file, text, layout);
  const { first, failure } = await takeReadable(entries);
  const names = [...new Set(first.flatMap(({ fields }) => Object.keys(fields)))];
  yield { cells: names, line: 1 };

  let line = 0;
  for await (const { fields, problem } of chain(first, entries)) {
    line += 1;
    if (line > maxLines) {
      throw new ImportError(`${file.name} has more than ${count(maxLines)} entries, the limit for a bank file`);
    }
    const cells = names.map((name) => toCell(fields[name]));
    if (cells.some((cell) => undecodable.test(String(cell)))) {
      throw new ImportError(
        `${file.name}, entry ${line}: bytes that are not ${text.encoding()}; import the downloaded file unchanged`,
      );
    }
    if (problem !== undefined) yield { cells, line, problem };
    else if (cells.some((cell) => cell !== '')) yield { cells, line };
  }
  if (failure !== null) throw failure;
}

/** Not all entries have all fields. */
const entriesForNames = 20;

/** The first entries and, if reading fails within them, the error: the entries before it show which list it is. */
async function takeReadable(entries: AsyncIterator<Entry>): Promise<{ first: Entry[]; failure: unknown }> {
  const first: Entry[] = [];
  try {
    while (first.length < entriesForNames) {
      const { value, done } = await entries.next();
      if (done) break;
      first.push(value);
    }
  } catch (error) {
    return { first, failure: error };
  }
  return { first, failure: null };
}

interface Entry {
  fields: Readonly<Record<string, unknown>>;
  problem?: string;
}

function toCell(value: unknown): string | number {
  return typeof value === 'number' ? value : String(value ?? '');
}

function tooLong({ name }: BankFile): ImportError {
  return new ImportError(`${name}: an entry of more than ${count(maxLineLength)} characters, the limit for an entry`);
}

function cutOff({ name }: BankFile, within: 'an entry' | 'its list'): ImportError {
  return new ImportError(`${name} ends within ${within}; download it again`);
}

/**
 * The objects of an array, parsed one by one: a whole file of the largest size would take too much memory. They contain no
 * objects, so that a brace outside of texts begins another one, also after one that is not valid.
 */
async function* jsonEntries(file: BankFile, { pieces }: DecodedText): AsyncGenerator<Entry> {
  let rest = '';
  for await (const piece of pieces) {
    rest += piece;
    let done = 0;
    let isOpen = false;
    for (const { 0: token, index } of rest.matchAll(jsonToken)) {
      if (token === '{') {
        if (isOpen) yield invalidEntry;
        [done, isOpen] = [index, true];
      } else if (token === '}' && isOpen) {
        const object = rest.slice(done, index + 1);
        if (object.length > maxLineLength) throw tooLong(file);
        yield parseObject(object);
        [done, isOpen] = [index + 1, false];
      }
    }
    rest = rest.slice(done);
    if (rest.length > maxLineLength) throw tooLong(file);
  }
  if (rest.includes('{')) throw cutOff(file, 'an entry');
  if (!rest.trimEnd().endsWith(']')) throw cutOff(file, 'its list');
}

/** A brace or a text. A text that is never closed ends with its line, so that the next entry can be read. */
const jsonToken = /[{}]|"(?:[^"\\\r\n]|\\.)*(?:"|\\?(?:[\r\n]|$))/g;

const invalidEntry: Entry = { fields: {}, problem: 'it is not valid JSON' };

function parseObject(text: string): Entry {
  try {
    const fields: Entry['fields'] = JSON.parse(text);
    return Object.values(fields).some(isNested) ? { fields: {}, problem: 'it has a list within a list' } : { fields };
  } catch {
    return invalidEntry;
  }
}

/** The text of such a value would be that of its innermost list, however deep. */
function isNested(value: unknown): boolean {
  return Array.isArray(value) && value.some((item) => Array.isArray(item));
}

type Fields = Record<string, string>;

/** Only what such lists need of XML: elements with a text, in groups. Attributes are ignored. */
async function* xmlEntries(
  file: BankFile,
  text: DecodedText,
  { group, row }: Extract<Layout, { kind: 'xml' }>,
): AsyncGenerator<Entry> {
  let common: Fields | null = null;
  let rows: Fields[] = [];
  let current: Fields | null = null;
  let open = '';
  let root = '';
  let isWhole = false;
  for await (const { before, isEnd, name } of xmlTags(file, text)) {
    root ||= name;
    isWhole = isEnd && name === root;
    if (name === group && isEnd) {
      for (const fields of rows) yield { fields: { ...common, ...fields } };
      [common, rows] = [null, []];
    } else if (name === group) common = {};
    else if (common !== null && name === row && isEnd) {
      if (current) rows.push(current);
      current = null;
      if (rows.length > maxGroupRows) throw tooLong(file);
    } else if (name === row) current = {};
    else if (isEnd && open === name) {
      const fields = current ?? common ?? {};
      fields[`${current ? row : group} ${name}`] ??= before;
      if (Object.keys(fields).length > maxFields) throw tooLong(file);
    }
    open = isEnd ? '' : name;
  }
  if (common !== null) throw cutOff(file, 'an entry');
  if (!isWhole) throw cutOff(file, 'its list');
}

/** A hundred times those of an official file. */
const maxGroupRows = 10_000;
const maxFields = 200;

interface XmlTag {
  /** The text before it. */
  before: string;
  isEnd: boolean;
  /** Without its namespace. */
  name: string;
}

async function* xmlTags(file: BankFile, { pieces }: DecodedText): AsyncGenerator<XmlTag> {
  let rest = '';
  let text = '';
  for await (const piece of pieces) {
    rest += piece;
    let at = 0;
    for (let markup = findMarkup(rest, at); markup !== null; markup = findMarkup(rest, at)) {
      const { open, content, start, end } = markup;
      if (end - at > maxLineLength) throw tooLong(file);
      text += decodeEntities(rest.slice(at, start));
      if (open === '<![CDATA[') text += content;
      if (text.length > maxLineLength) throw tooLong(file);
      at = end;
      const [, slash, name = ''] = (open === '<' && tagName.exec(content)) || [];
      if (name === '') continue;
      yield { before: text.trim(), isEnd: slash === '/', name };
      text = '';
      if (content.endsWith('/')) yield { before: '', isEnd: true, name };
    }
    rest = rest.slice(at);
    if (rest.length > maxLineLength) throw tooLong(file);
  }
}

interface Markup {
  /** How it begins: `<` for a tag or a declaration. */
  open: string;
  /** Without its delimiters. */
  content: string;
  start: number;
  end: number;
}

/** The next tag, comment or section; null if there is none, or if its end is missing. */
function findMarkup(text: string, from: number): Markup | null {
  const start = text.indexOf('<', from);
  if (start < 0) return null;
  const [open, close] = delimiters.find(([begin]) => text.startsWith(begin, start)) ?? ['<', '>'];
  const end = text.indexOf(close, start + open.length);
  return end < 0 ? null : { open, content: text.slice(start + open.length, end), start, end: end + close.length };
}

const delimiters: readonly (readonly [open: string, close: string])[] = [
  ['<![CDATA[', ']]>'],
  ['<!--', '-->'],
];

/** Declarations have none. */
const tagName = /^(\/?)(?:[\w.-]+:)?([\w.-]*)/;

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi, (whole, decimal, hex, name) => {
    if (name) return entities[name] ?? whole;
    const code = decimal ? Number(decimal) : Number.parseInt(hex, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
