import { isAscii } from 'node:buffer';
import iconv from 'iconv-lite';
import { type BankFile, ImportError } from './bank-file.ts';
import type { TextEncoding } from './bank-file-format.ts';

export interface DecodedText {
  /** @throws ImportError if the file is not text, or in an encoding that is not recognized */
  pieces: AsyncIterable<string>;
  /** The encoding of the pieces up to now. */
  encoding(): string;
}

/**
 * Decodes a text file in chunks, in the encoding of its publisher, or as a copy in UTF-8 or UTF-16, with or without a byte
 * order mark.
 */
export function decodeText(file: BankFile, published: TextEncoding): DecodedText {
  let encoding: string = published;
  return { pieces: decodePieces(), encoding: () => encoding };

  async function* decodePieces(): AsyncGenerator<string> {
    rejectBinary(file);
    const utf16 = findUtf16(file.start);
    let decoder = utf16 === null ? null : createDecoder(utf16);
    let undecided: Buffer = Buffer.alloc(0);
    for await (const chunk of file.chunks) {
      if (decoder) {
        yield decoder.write(chunk);
        continue;
      }
      const bytes = undecided.length > 0 ? Buffer.concat([undecided, chunk]) : chunk;
      const asciiLength = countAscii(bytes);
      if (bytes.length - asciiLength >= longestUtf8Character) {
        decoder = createDecoder(isUtf8(bytes) ? 'utf-8' : published);
        undecided = Buffer.alloc(0);
        yield decoder.write(bytes);
      } else {
        // ASCII is the same in all encodings that are possible here.
        yield bytes.toString('latin1', 0, asciiLength);
        undecided = bytes.subarray(asciiLength);
      }
    }
    decoder ??= createDecoder(isUtf8(undecided) ? 'utf-8' : published);
    yield decoder.write(undecided) + (decoder.end() ?? '');
  }

  function createDecoder(chosen: string) {
    if (chosen === 'utf-16') {
      throw new ImportError(
        `${file.name} is neither in utf-16, as it is published, nor in utf-8; import the downloaded file unchanged`,
      );
    }
    encoding = chosen;
    // Removes the byte order mark.
    return iconv.getDecoder(chosen);
  }
}

/** In bytes. */
const longestUtf8Character = 4;

function rejectBinary({ name, start }: BankFile): void {
  const signature = start.subarray(0, 4).toString('hex');
  if (/^504b0[357]|^d0cf11e0/.test(signature)) {
    throw new ImportError(`${name} is a workbook or an archive; expected a text file`);
  }
  if (signature.startsWith('1f8b')) throw new ImportError(`${name} is compressed with gzip; unpack it first`);
}

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

/**
 * Accented letters of a single-byte encoding practically never form valid UTF-8, so the first chunk with any is enough to
 * distinguish the two. It may end within a character.
 */
function isUtf8(bytes: Buffer): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
