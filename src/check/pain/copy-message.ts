import iconv from 'iconv-lite';
import type { SchemaCheck } from './check-schema.ts';
import { decodeXml } from './decode-xml.ts';
import { xpathOf } from './elements.ts';
import { escapeAmpersands } from './escape-ampersands.ts';
import { type MessageParts, MessageReader } from './read-message.ts';
import { Refusal, type RuleCode } from './rules.ts';

/** What differs between a message and its copy. IBANs are masked. */
export interface Change {
  code: RuleCode;
  /** Where it is in the message, not in the copy. */
  line: number;
  xpath: string;
  before: string;
  after: string;
}

/** A change, and how it is made. */
export interface Revision extends Change {
  /** Where the content of its element begins, in characters of the message. */
  start: number;
  /** @returns none if it cannot be made */
  edit(source: Source): readonly Edit[];
}

/** A text of the message that the copy replaces. */
export interface Edit {
  start: number;
  end: number;
  /** As it is written in the copy. */
  written: string;
}

/** The text of the part with the element of a revision. */
export interface Source {
  text(start: number, end: number): string;
  /** Where the last tag before a place begins. */
  lastTag(before: number): number;
  /** A text as it is written in the encoding of the message. */
  write(text: string): string;
}

/** Reads a message, and finds what the copy changes. */
export interface Reviser {
  parts: MessageParts;
  schema: SchemaCheck;
  /** Called after each piece of the message. */
  discard(): void;
}

type CreateReviser = (revise: (revision: Revision) => void) => Reviser;

interface CopyOptions {
  createReviser: CreateReviser;
  /** What an earlier reading has found, in the order of the message. */
  known?: readonly Revision[];
  onChange(change: Change): Promise<void> | void;
}

/**
 * A copy of a message with some changes; each other byte is as it was. It is written while the message is read.
 * @throws Refusal if it cannot be read to its end
 */
export async function* copyMessage(
  chunks: AsyncIterable<Buffer>,
  { createReviser, known = [], onChange }: CopyOptions,
): AsyncGenerator<Buffer> {
  let nextKnown = 0;
  let encoder: ReturnType<typeof iconv.getEncoder> | null = null;
  for await (const part of readRevisions(chunks, createReviser)) {
    if (encoder === null && part.removedSpace !== '') {
      await onChange({ code: 'NOT_XML', line: 1, xpath: '/', before: part.removedSpace, after: '' });
    }
    encoder ??= iconv.getEncoder(part.encoding, { addBOM: false });
    const revisions = [...part.revisions];
    const end = part.start + part.text.length;
    for (let next = known[nextKnown]; next !== undefined && next.start < end; next = known[nextKnown]) {
      revisions.push(next);
      nextKnown += 1;
    }
    const { copy, changes } = reviseText(part, revisions);
    for (const change of changes) await onChange(change);
    const bytes = encoder.write(copy);
    if (bytes.length > 0) yield bytes;
  }
  const end = encoder?.end();
  if (end !== undefined && end.length > 0) yield end;
}

/** A piece of a message of which all revisions are known, but those that depend on what follows. */
interface RevisedPart {
  text: string;
  /** Where the text begins, in characters of the message. */
  start: number;
  revisions: readonly Revision[];
  /** Where `amp;` was inserted. */
  ampersands: readonly Ampersand[];
  encoding: string;
  /** White space before the XML declaration of the message. */
  removedSpace: string;
}

type Ampersand = Pick<Revision, 'start' | 'line' | 'xpath'>;

export async function* readRevisions(
  chunks: AsyncIterable<Buffer>,
  createReviser: CreateReviser,
): AsyncGenerator<RevisedPart> {
  let text = '';
  let start = 0;
  let revisions: Revision[] = [];
  let ampersands: Ampersand[] = [];
  let settledAt = 0;
  let encoding = 'utf-8';
  const decoded = decodeXml(chunks, {
    maxBytes: maxMessageBytes,
    onEncoding(name) {
      encoding = name;
    },
  });
  const { pieces, inserted, removedSpace, removedLines } = escapeAmpersands(decoded);
  const { parts, schema, discard } = createReviser((revision) => {
    revisions.push({ ...revision, line: revision.line + removedLines() });
  });
  const reader = new MessageReader(parts, schema, () => {
    settledAt = reader.position().offset;
  });

  for await (const piece of pieces) {
    if (piece.includes('\uFFFD')) throw new Refusal('ENCODING_BROKEN', 'The file has bytes that are not characters.');
    const pieceStart = start + text.length;
    let read = 0;
    const readUpTo = (end: number) => {
      reader.write(piece.slice(read, end));
      read = end;
    };
    text += piece;
    for (const at of inserted.splice(0)) {
      readUpTo(at + 'amp;'.length - pieceStart);
      const { line, element } = reader.position();
      ampersands.push({ start: at, line: line + removedLines(), xpath: element === null ? '/' : xpathOf(element) });
    }
    readUpTo(piece.length);
    discard();
    if (settledAt > start) yield takePart();
  }
  reader.end();
  settledAt = start + text.length;
  yield takePart();

  function takePart(): RevisedPart {
    const length = settledAt - start;
    const isInside = (each: { start: number }) => each.start < settledAt;
    const part = { text: text.slice(0, length), start, encoding, removedSpace: removedSpace() };
    const taken = { revisions: revisions.filter(isInside), ampersands: ampersands.filter(isInside) };
    revisions = revisions.filter((each) => !isInside(each));
    ampersands = ampersands.filter((each) => !isInside(each));
    text = text.slice(length);
    start = settledAt;
    return { ...part, ...taken };
  }
}

const maxMessageBytes = 1_000_000_000;

/** The text of the copy, and what differs. */
function reviseText(part: RevisedPart, revisions: readonly Revision[]): { copy: string; changes: readonly Change[] } {
  const { text, start, ampersands, encoding } = part;
  const source: Source = {
    text: (from, to) => text.slice(from - start, to - start),
    lastTag: (before) => text.lastIndexOf('<', before - start - 1) + start,
    write: (value) => writeText(value, encoding),
  };
  // The last one of a text is made.
  const byPlace = new Map(
    revisions.flatMap((revision) => {
      const edits = revision.edit(source);
      return edits.length === 0 ? [] : [[revision.start, { revision, edits }] as const];
    }),
  );
  const made = [...byPlace.values()];
  const edits = made.flatMap((each) => each.edits).sort((one, other) => one.start - other.start);
  let copy = '';
  let at = start;
  for (const { start: from, end, written } of edits) {
    copy += text.slice(at - start, from - start) + written;
    at = end;
  }
  // The replacement of a text is one change, whatever ampersands the text had.
  let next = 0;
  const isReplaced = (place: number) => {
    while ((edits[next]?.end ?? place + 1) <= place) next += 1;
    return (edits[next]?.start ?? place + 1) <= place;
  };
  const escaped = ampersands
    .filter((each) => !isReplaced(each.start))
    .map((each) => ({ ...each, code: 'NOT_WELL_FORMED' as const, before: '&', after: '&amp;' }));
  const changes = [...made.map(({ revision }) => revision), ...escaped]
    .sort((one, other) => one.start - other.start)
    .map(({ code, line, xpath, before, after }) => ({ code, line, xpath, before, after }));
  return { copy: copy + text.slice(at - start), changes };
}

/** Characters that the encoding may not have are written as their numbers. */
function writeText(text: string, encoding: string): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  if (encoding.startsWith('utf')) return escaped;
  return escaped.replaceAll(/[^\0-\x7F]/gu, (character) => `&#${character.codePointAt(0)};`);
}
