/** What was changed before the message is read as XML. */
interface EscapedAmpersands {
  pieces: AsyncGenerator<string>;
  /** Where `amp;` was inserted, in characters of the pieces. The reader removes those that it has seen. */
  inserted: number[];
  /** White space that was removed before the XML declaration; empty until the first piece. */
  removedSpace(): string;
  /** Line breaks in it. */
  removedLines(): number;
}

/**
 * Writes `&amp;` for each `&` of a text or attribute that begins no reference. `&euro;` may be meant as a character, so it is
 * unchanged. White space before the XML declaration is removed.
 */
export function escapeAmpersands(texts: AsyncIterable<string>): EscapedAmpersands {
  const inserted: number[] = [];
  let removed = '';
  /** The end of the comment, CDATA section or instruction that is being read. */
  let end: string | null = null;
  let length = 0;
  return { pieces: readPieces(), inserted, removedSpace: () => removed, removedLines };

  async function* readPieces(): AsyncGenerator<string> {
    let rest = '';
    let isStart = true;
    for await (const text of texts) {
      rest += text;
      if (isStart && rest.length < maxStart && /^\uFEFF?\s*(?:<(?:\?(?:x(?:ml?)?)?)?)?$/.test(rest)) continue;
      if (isStart) rest = removeLeadingSpace(rest);
      isStart = false;
      const piece = escapeText(rest, false);
      rest = rest.slice(piece.read);
      if (piece.text !== '') yield piece.text;
    }
    const last = escapeText(rest, true);
    if (last.text !== '') yield last.text;
  }

  function removedLines(): number {
    return removed.match(/\r\n|\r|\n/g)?.length ?? 0;
  }

  function removeLeadingSpace(text: string): string {
    const [, mark = '', space] = /^(\uFEFF?)([ \t\r\n]+)(?=<\?xml\s)/.exec(text) ?? [];
    if (space === undefined) return text;
    removed = space;
    return mark + text.slice(mark.length + space.length);
  }

  /** @returns the escaped text, and how many characters of the given one it is; the others depend on what follows. */
  function escapeText(text: string, isLast: boolean): { text: string; read: number } {
    let escaped = '';
    let read = 0;
    const take = (to: number) => {
      escaped += text.slice(read, to);
      read = to;
    };
    while (read < text.length) {
      if (end !== null) {
        const at = text.indexOf(end, read);
        if (at < 0) {
          take(isLast ? text.length : Math.max(read, text.length - end.length + 1));
          break;
        }
        take(at + end.length);
        end = null;
        continue;
      }
      const at = text.slice(read).search(/&|<[!?]|<$/);
      if (at < 0) {
        take(text.length);
        break;
      }
      take(read + at);
      const following = text.slice(read, read + maxName);
      if (!isLast && following.length < maxName && isUnclear.test(following)) break;
      const section = sections.find(([start]) => following.startsWith(start));
      if (section !== undefined) {
        end = section[1];
        take(read + section[0].length);
      } else if (following.startsWith('&') && !isReference.test(following)) {
        inserted.push(length + escaped.length + 1);
        escaped += '&amp;';
        read += 1;
      } else take(read + 1);
    }
    length += escaped.length;
    return { text: escaped, read };
  }
}

/** Longer than the name of a character, and than the start of a section. */
const maxName = 40;
/** White space before a declaration has less. */
const maxStart = 4096;
const isReference = /^&#?\w+;/;
const isUnclear = /^(?:&#?\w*|<|<!-?|<!\[[A-Z]{0,5})$/;
const sections: readonly (readonly [start: string, end: string])[] = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<?', '?>'],
];
