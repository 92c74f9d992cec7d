import { isAscii } from 'node:buffer';

/** Bytes of a text file. */
interface TextFile {
  /** The first bytes, which `chunks` begin with. */
  start: Buffer;
  chunks: AsyncIterable<Buffer>;
}

/** Decodes a part of a text; without an argument, its end. */
export type Decode = (bytes?: Buffer) => string;

/**
 * Decodes a text in chunks: UTF-16 by its byte order mark or its zeros, otherwise UTF-8 if the first bytes beyond ASCII are valid in
 * it, otherwise another encoding. Accented letters of a single-byte encoding practically never form valid UTF-8.
 * @param createDecode called once. The decoder removes the byte order mark
 */
export async function* decodeText<Other extends string>(
  { start, chunks }: TextFile,
  other: Other,
  createDecode: (encoding: 'utf-8' | 'utf-16le' | 'utf-16be' | Other) => Decode,
): AsyncGenerator<string> {
  const utf16 = findUtf16(start);
  let decode = utf16 === null ? null : createDecode(utf16);
  let undecided: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    if (decode) {
      yield decode(chunk);
      continue;
    }
    const bytes = undecided.length > 0 ? Buffer.concat([undecided, chunk]) : chunk;
    const asciiLength = countAscii(bytes);
    if (bytes.length - asciiLength >= longestUtf8Character) {
      decode = createDecode(isUtf8(bytes) ? 'utf-8' : other);
      undecided = Buffer.alloc(0);
      yield decode(bytes);
    } else {
      // ASCII is the same in all encodings that are possible here.
      yield bytes.toString('latin1', 0, asciiLength);
      undecided = bytes.subarray(asciiLength);
    }
  }
  decode ??= createDecode(isUtf8(undecided) ? 'utf-8' : other);
  yield decode(undecided) + decode();
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
