import iconv from 'iconv-lite';
import { ImportError } from '../import-error.ts';
import type { Encoding } from './bank-file-format.ts';
import type { BankFile } from './open-bank-file.ts';

/**
 * The text of a file, piece by piece.
 * @throws ImportError as soon as it shows that the file is in another encoding, or is no text at all
 */
export async function* decodeText({ name, start, chunks }: BankFile, encoding: Encoding): AsyncGenerator<string> {
  const complaint = complainAboutStart(start, encoding);
  if (complaint) throw new ImportError(`${name} ${complaint}`);

  const decoder = iconv.getDecoder(encoding);
  let isAscii = true;
  let line = 1;
  for await (const chunk of chunks) {
    if (isAscii && singleByte.has(encoding) && hasUtf8Characters(chunk)) {
      throw new ImportError(`${name} is in UTF-8; the original is in ${encoding}: import it as it was downloaded`);
    }
    isAscii &&= isAsciiOnly(chunk);
    yield check(decoder.write(chunk));
  }
  yield check(decoder.end() ?? '');

  function check(text: string): string {
    const broken = text.indexOf(undecodable);
    if (broken >= 0) {
      const place = line + countLines(text.slice(0, broken));
      throw new ImportError(`${name}, line ${place}: bytes that are not ${encoding}; import it as it was downloaded`);
    }
    line += countLines(text);
    return text;
  }
}

const singleByte: ReadonlySet<Encoding> = new Set(['windows-1250', 'windows-1252', 'iso-8859-1', 'cp852']);

/** What decoders write in place of bytes that mean nothing. */
const undecodable = '\ufffd';

function complainAboutStart(start: Buffer, encoding: Encoding): string | null {
  if (start.subarray(0, 2).toString('latin1') === 'PK') return 'is a workbook or an archive; expected a text file';
  const mark = start.subarray(0, 2).toString('hex');
  const isUtf16 = mark === 'fffe' || mark === 'feff';
  if (isUtf16 && encoding !== 'utf-16') return `is in UTF-16; expected ${encoding}: import it as it was downloaded`;
  if (!isUtf16 && encoding === 'utf-16') return 'does not begin with a byte order mark; expected UTF-16 with one';
  return null;
}

/**
 * Whether the bytes are UTF-8 and need to be: accented letters of a single-byte encoding practically never follow each
 * other in a way that is UTF-8 too, so the first chunk with any tells the two apart.
 */
function hasUtf8Characters(chunk: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(chunk, { stream: true });
    return !isAsciiOnly(Buffer.from(text));
  } catch {
    return false;
  }
}

function isAsciiOnly(bytes: Buffer): boolean {
  return bytes.every((byte) => byte < 0x80);
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
