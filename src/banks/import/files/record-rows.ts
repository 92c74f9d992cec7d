import { SaxesParser } from 'saxes';
import type { DecodedText } from '../../../base/decode-text.ts';
import { chain, type InputFile, takeReadable } from '../../../base/input-file.ts';
import { count } from '../../../base/process/terminal.ts';
import { ImportError, type Row } from './bank-file.ts';
import type { Layout } from './bank-file-format.ts';
import { decodeBankFile } from './decode-bank-file.ts';
import { maxLineLength, maxLines, undecodable } from './text-rows.ts';

/**
 * Streams the entries of a JSON or XML file as rows. The first row has the names of the fields in the first entries.
 * @throws ImportError
 */
export async function* readRecordRows(
  file: InputFile,
  layout: Extract<Layout, { kind: 'json' | 'xml' }>,
): AsyncGenerator<Row> {
  const text = decodeBankFile(file, layout.encoding);
  const entries = layout.kind === 'json' ? jsonEntries(file, text) : xmlEntries(file, text, layout);
  // The entries before a failure show which list it is.
  const { first, failure } = await takeReadable(entries, (taken) => taken < entriesForNames);
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

interface Entry {
  fields: Readonly<Record<string, unknown>>;
  problem?: string;
}

function toCell(value: unknown): string | number {
  return typeof value === 'number' ? value : String(value ?? '');
}

function tooLong({ name }: InputFile): ImportError {
  return new ImportError(`${name}: an entry of more than ${count(maxLineLength)} characters, the limit for an entry`);
}

function cutOff({ name }: InputFile, within: 'an entry' | 'its list'): ImportError {
  return new ImportError(`${name} ends within ${within}; download it again`);
}

/**
 * The objects of an array, parsed one by one: a whole file of the largest size would take too much memory. They contain no
 * objects, so that a brace outside of texts begins another one, also after one that is not valid.
 */
async function* jsonEntries(file: InputFile, { pieces }: DecodedText<string>): AsyncGenerator<Entry> {
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

/** The elements with a text, in groups. Attributes, and errors that do not concern these elements, are ignored. */
async function* xmlEntries(
  file: InputFile,
  { pieces }: DecodedText<string>,
  { group, row }: Extract<Layout, { kind: 'xml' }>,
): AsyncGenerator<Entry> {
  // A publisher may return one in place of its list, under the same name.
  if (/^[^<]*<!doctype html/i.test(file.start.toString('latin1'))) return;
  const parser = new SaxesParser();
  const open: string[] = [];
  let entries: Entry[] = [];
  let rows: Fields[] = [];
  /** What the rows of a group have in common; null between groups. */
  let common: Fields | null = null;
  let current: Fields | null = null;
  /** Null after an element in this one: it has no text of its own. */
  let text: string | null = null;
  let lastTag = 0;
  let isWhole = false;
  let failure: ImportError | null = null;

  parser.on('error', () => {});
  parser.on('opentag', (tag) => {
    const name = localName(tag);
    open.push(name);
    if (name === group) common = {};
    else if (name === row) current = {};
    if (open.length > maxDepth) failure ??= cutOff(file, 'an entry');
    [text, lastTag] = ['', parser.position];
  });
  for (const event of ['text', 'cdata'] as const) {
    parser.on(event, (part) => {
      if (text !== null) text += part;
      if ((text ?? part).length > maxLineLength) failure ??= tooLong(file);
    });
  }
  parser.on('closetag', (tag) => {
    const name = localName(tag);
    open.pop();
    if (name === group) {
      if (failure === null) entries.push(...rows.map((fields) => ({ fields: { ...common, ...fields } })));
      [common, rows] = [null, []];
    } else if (common !== null && name === row) {
      if (current !== null && rows.push(current) > maxGroupRows) failure ??= tooLong(file);
      current = null;
    } else if (text !== null) {
      const fields: Fields = current ?? common ?? {};
      fields[`${current ? row : group} ${name}`] ??= text.trim();
      if (Object.keys(fields).length > maxFields) failure ??= tooLong(file);
    }
    [text, lastTag, isWhole] = [null, parser.position, open.length === 0];
  });

  let length = 0;
  for await (const piece of pieces) {
    parser.write(piece);
    length += piece.length;
    if (length - lastTag > maxLineLength) failure ??= tooLong(file);
    yield* entries;
    entries = [];
    if (failure !== null) throw failure;
  }
  if (common !== null) throw cutOff(file, 'an entry');
  if (!isWhole) throw cutOff(file, 'its list');
}

/** A hundred times those of an official file. */
const maxGroupRows = 10_000;
const maxFields = 200;
const maxDepth = 100;

function localName({ name }: { name: string }): string {
  return name.slice(name.indexOf(':') + 1);
}
