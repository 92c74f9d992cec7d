import { isAscii } from 'node:buffer';
import iconv from 'iconv-lite';
import { type PaymentFile, PaymentFileError } from './open-file.ts';

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Decodes a part of a text; without an argument, its end. @throws PaymentFileError for bytes of another encoding */
type Decode = (bytes?: Buffer) => string;

/**
 * Decodes a text in chunks, without its byte order mark: UTF-16 by its mark or its zeros, otherwise UTF-8 if the first bytes beyond
 * ASCII are valid in it, otherwise Windows-1252. Accented letters of Windows-1252 practically never form valid UTF-8.
 */
export async function* decodeText(
  file: Pick<PaymentFile, 'name' | 'start' | 'chunks'>,
  onEncoding: (encoding: TextEncoding) => void = () => {},
): AsyncGenerator<string> {
  const utf16 = findUtf16(file.start);
  let decode = utf16 === null ? null : createDecode(utf16);
  let undecided: Buffer = Buffer.alloc(0);
  for await (const chunk of file.chunks) {
    if (decode) {
      yield decode(chunk);
      continue;
    }
    const bytes = undecided.length > 0 ? Buffer.concat([undecided, chunk]) : chunk;
    const asciiLength = countAscii(bytes);
    if (bytes.length - asciiLength >= longestUtf8Character) {
      decode = createDecode(isUtf8(bytes) ? 'utf-8' : 'windows-1252');
      undecided = Buffer.alloc(0);
      yield decode(bytes);
    } else {
      // ASCII is the same in both encodings that are possible here.
      yield bytes.toString('latin1', 0, asciiLength);
      undecided = bytes.subarray(asciiLength);
    }
  }
  decode ??= createDecode(isUtf8(undecided) ? 'utf-8' : 'windows-1252');
  yield decode(undecided) + decode();

  function createDecode(encoding: TextEncoding): Decode {
    onEncoding(encoding);
    if (encoding !== 'utf-8') {
      const decoder = iconv.getDecoder(encoding);
      return (bytes) => (bytes === undefined ? (decoder.end() ?? '') : decoder.write(bytes));
    }
    const decoder = new TextDecoder('utf-8', { fatal: true });
    return (bytes) => {
      try {
        return decoder.decode(bytes, { stream: bytes !== undefined });
      } catch {
        throw new PaymentFileError(
          `${file.name} begins in UTF-8, but has bytes that are not UTF-8; save it in one encoding, such as UTF-8`,
        );
      }
    };
  }
}

/** In bytes. */
const longestUtf8Character = 4;

/** By the byte order mark, or by the zeros in the first characters, which no other text has. */
function findUtf16(start: Buffer): TextEncoding | null {
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
