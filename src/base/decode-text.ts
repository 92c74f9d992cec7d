import { isAscii } from 'node:buffer';
import iconv from 'iconv-lite';

/** Bytes of a text file. */
interface TextFile {
  /** The first bytes, which `chunks` begin with. */
  start: Buffer;
  chunks: AsyncIterable<Buffer>;
}

export interface DecodedText<Encoding> {
  pieces: AsyncIterable<string>;
  /** That of the pieces up to now; UTF-8 while they are ASCII. */
  encoding(): Encoding;
}

interface DecodeOptions<Other> {
  /** The encoding of a text that is neither in UTF-8 nor in UTF-16, or what finds it in the first bytes beyond ASCII. */
  other: Other | ((bytes: Buffer) => Other);
  /** The encoding, if it need not be recognized. */
  named?: Encoding<Other> | null;
  /** For bytes that are not UTF-8 in a text that begins in it; without it, they become U+FFFD. */
  createError?: () => Error;
}

/**
 * Decodes a text in chunks, without its byte order mark: UTF-16 by its byte order mark or its zeros, otherwise UTF-8 if the first
 * bytes beyond ASCII are valid in it, otherwise another encoding. Accented letters of a single-byte encoding practically never form
 * valid UTF-8.
 */
export function decodeText<Other extends string>(
  { start, chunks }: TextFile,
  { other, named = null, createError }: DecodeOptions<Other>,
): DecodedText<Encoding<Other>> {
  let encoding: Encoding<Other> = named ?? 'utf-8';
  return { pieces: decode(), encoding: () => encoding };

  async function* decode(): AsyncGenerator<string> {
    const certain = named ?? findUtf16(start);
    let decodeNext = certain === null ? null : begin(certain);
    let undecided: Buffer = Buffer.alloc(0);
    for await (const chunk of chunks) {
      if (decodeNext !== null) {
        yield decodeNext(chunk);
        continue;
      }
      const bytes = undecided.length > 0 ? Buffer.concat([undecided, chunk]) : chunk;
      const asciiLength = countAscii(bytes);
      if (bytes.length - asciiLength >= longestUtf8Character) {
        decodeNext = begin(isUtf8(bytes) ? 'utf-8' : findOther(bytes));
        undecided = Buffer.alloc(0);
        yield decodeNext(bytes);
      } else {
        // ASCII is the same in all encodings that are possible here.
        yield bytes.toString('latin1', 0, asciiLength);
        undecided = bytes.subarray(asciiLength);
      }
    }
    decodeNext ??= begin(isUtf8(undecided) ? 'utf-8' : findOther(undecided));
    yield decodeNext(undecided) + decodeNext();
  }

  function findOther(bytes: Buffer): Other {
    return typeof other === 'function' ? other(bytes) : other;
  }

  function begin(found: Encoding<Other>): Decode {
    encoding = found;
    if (found === 'utf-8' && createError !== undefined) return decodeUtf8(createError);
    const decoder = iconv.getDecoder(found);
    return (bytes) => (bytes === undefined ? (decoder.end() ?? '') : decoder.write(bytes));
  }
}

type Encoding<Other> = 'utf-8' | 'utf-16le' | 'utf-16be' | Other;

/** Decodes a part of a text; without an argument, its end. */
type Decode = (bytes?: Buffer) => string;

function decodeUtf8(createError: () => Error): Decode {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  return (bytes) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw createError();
    }
  };
}

/** In bytes. */
const longestUtf8Character = 4;

/** By the byte order mark, or by the zeros in the first characters, which no other text has. */
function findUtf16(start: Buffer): 'utf-16le' | 'utf-16be' | null {
  const [first, second, third, fourth] = start;
  if ((first === 0xff && second === 0xfe) || (second === 0 && fourth === 0 && first !== 0)) return 'utf-16le';
  if ((first === 0xfe && second === 0xff) || (first === 0 && third === 0 && second !== 0)) return 'utf-16be';
  return null;
}

function countAscii(bytes: Buffer): number {
  return isAscii(bytes) ? bytes.length : bytes.findIndex((byte) => byte > 127);
}

/** The bytes may end within a character. */
function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
