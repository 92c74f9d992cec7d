import iconv from 'iconv-lite';
import { type Change, Refusal } from '../finding.ts';
import { decodeXml } from './decode-xml.ts';
import { xpathOf } from './elements.ts';
import { type ElementEvents, type MessageParts, MessageReader, messageLimits } from './read-message.ts';

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
  elements?: ElementEvents;
  /** Called when no element that begins before a place will change. */
  settle?(end: number): void;
}

export interface CopyOptions {
  createReviser(revise: (revision: Revision) => void): Reviser;
  onChange(change: Change): Promise<void> | void;
}

/**
 * A copy of a message with some changes; each other byte is as it was. It is written while the message is read.
 * @throws Refusal if it cannot be read to its end
 */
export async function* copyMessage(
  chunks: AsyncIterable<Buffer>,
  { createReviser, onChange }: CopyOptions,
): AsyncGenerator<Buffer> {
  /** What is not copied yet, and where it begins, in characters of the message. */
  let text = '';
  let start = 0;
  /** The changes of that text which were found. */
  let revisions: Revision[] = [];
  let settledAt = 0;
  let removedLines = 0;
  let encoding = 'utf-8';
  let encoder: ReturnType<typeof iconv.getEncoder> | null = null;

  const escaped: number[] = [];
  const onEncoding = (name: string) => {
    encoding = name;
  };
  const pieces = escapeAmpersands(decodeXml(chunks, { onEncoding }), escaped, (space) => {
    revisions.push({ ...{ code: 'NOT_XML', line: 1, xpath: '/', before: space, after: '' }, ...editedAt(0) });
    removedLines = space.match(/\r\n|\r|\n/g)?.length ?? 0;
  });
  const revise = (revision: Revision) => void revisions.push({ ...revision, line: revision.line + removedLines });
  const { parts, elements, settle } = createReviser(revise);
  const reader = new MessageReader(parts, elements ? [elements] : [], () => {
    settledAt = reader.position().offset;
  });

  for await (const piece of pieces) {
    if (piece.includes('\uFFFD')) throw new Refusal('ENCODING_BROKEN', 'The file has bytes that are not characters.');
    const pieceStart = start + text.length;
    text += piece;
    let read = 0;
    for (const at of escaped.splice(0)) {
      const end = at + 'amp;'.length - pieceStart;
      reader.write(piece.slice(read, end));
      read = end;
      const { line, element } = reader.position();
      const xpath = element === null ? '/' : xpathOf(element);
      revise({ ...{ code: 'NOT_WELL_FORMED', line, xpath, before: '&', after: '&amp;' }, ...editedAt(at) });
    }
    reader.write(piece.slice(read));
    if (settledAt > start) yield* copyPart(false);
  }
  reader.end();
  settledAt = start + text.length;
  yield* copyPart(true);

  /** Copies the text of which all changes are known. */
  async function* copyPart(isLast: boolean): AsyncGenerator<Buffer> {
    settle?.(settledAt);
    const isInside = (each: Revision) => each.start < settledAt;
    const { copy, made } = reviseText(text.slice(0, settledAt - start), start, revisions.filter(isInside), encoding);
    revisions = revisions.filter((each) => !isInside(each));
    text = text.slice(settledAt - start);
    start = settledAt;
    for (const { code, line, xpath, before, after } of made) await onChange({ code, line, xpath, before, after });
    encoder ??= iconv.getEncoder(encoding, { addBOM: false });
    for (const bytes of [encoder.write(copy), isLast ? encoder.end() : undefined]) if (bytes?.length) yield bytes;
  }
}

/** The edit of a change that is in the text already. */
function editedAt(start: number): Pick<Revision, 'start' | 'edit'> {
  return { start, edit: () => [{ start, end: start, written: '' }] };
}

/** The text of the copy, and the revisions that are made. */
function reviseText(text: string, start: number, revisions: readonly Revision[], encoding: string) {
  const source: Source = {
    text: (from, to) => text.slice(from - start, to - start),
    lastTag: (before) => text.lastIndexOf('<', before - start - 1) + start,
    write: (value) => writeText(value, encoding),
  };
  const taken = new Uint8Array(text.length + 1);
  const isTaken = ({ start: from, end: to }: Edit) =>
    from < to
      ? taken.subarray(from - start, to - start).includes(1)
      : taken[from - start - 1] === 1 && taken[from - start] === 1;
  const edits: Edit[] = [];
  // Of those about the same text, the last one is made: a replacement is one change, whatever ampersands the text had.
  const made = revisions.toReversed().filter((revision) => {
    const own = revision.edit(source);
    if (own.length === 0 || own.some(isTaken)) return false;
    for (const edit of own) taken.fill(1, edit.start - start, edit.end - start);
    edits.unshift(...own);
    return true;
  });
  let copy = '';
  let at = start;
  for (const edit of edits.sort((one, other) => one.start - other.start || one.end - other.end)) {
    copy += text.slice(at - start, edit.start - start) + edit.written;
    at = edit.end;
  }
  copy += text.slice(at - start);
  return { copy, made: made.reverse().sort((one, other) => one.start - other.start) };
}

/** Characters that the encoding may not have are written as their numbers. */
function writeText(text: string, encoding: string): string {
  const escaped = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('\r', '&#13;');
  if (encoding.startsWith('utf')) return escaped;
  return escaped.replaceAll(/[^\0-\x7F]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/**
 * Writes `&amp;` for each `&` of a text or attribute that begins no reference. `&euro;` may be meant as a character, so it is
 * unchanged. White space before the XML declaration is removed.
 * @param escaped receives where `amp;` was inserted, in characters of the pieces
 */
async function* escapeAmpersands(
  texts: AsyncIterable<string>,
  escaped: number[],
  onSpace: (removed: string) => void,
): AsyncGenerator<string> {
  /** What was not escaped yet. */
  let rest = '';
  let length = 0;
  let isStart = true;
  for await (const text of texts) {
    rest += text;
    if (isStart && rest.length < maxStart && /^\uFEFF?\s*(?:<(?:\?(?:x(?:ml?)?)?)?)?$/.test(rest)) continue;
    if (isStart) removeSpace();
    isStart = false;
    yield escapeRest(false);
  }
  yield escapeRest(true);

  function removeSpace(): void {
    const [, mark = '', space] = /^(\uFEFF?)([ \t\r\n]+)(?=<\?xml\s)/.exec(rest) ?? [];
    if (space === undefined) return;
    rest = mark + rest.slice(mark.length + space.length);
    onSpace(space);
  }

  function escapeRest(isLast: boolean): string {
    // What the last characters are depends on what follows them.
    let limit = isLast ? rest.length : Math.max(rest.length - maxName, 0);
    let piece = '';
    let read = 0;
    for (const { index, 0: found } of rest.matchAll(sectionOrAmpersand)) {
      if (index >= limit) break;
      // A longer one is refused.
      if (index + found.length > limit && found.length <= messageLimits.tokenLength) limit = index;
      if (found !== '&') continue;
      piece += `${rest.slice(read, index)}&amp;`;
      escaped.push(length + piece.length - 'amp;'.length);
      read = index + 1;
    }
    piece += rest.slice(read, limit);
    rest = rest.slice(limit);
    length += piece.length;
    return piece;
  }
}

/** Longer than a reference, and than what begins and ends a section. */
const maxName = 40;
/** White space before a declaration has less. */
const maxStart = 4096;
/** A comment, a CDATA section or an instruction, perhaps without its end yet, or an `&` that begins no reference. */
const sectionOrAmpersand = /<!--.*?(?:-->|$)|<!\[CDATA\[.*?(?:\]\]>|$)|<\?.*?(?:\?>|$)|&(?!#?\w{1,37};)/gs;
