import { isAscii } from 'node:buffer';
import iconv from 'iconv-lite';
import { ImportError } from '../import-error.ts';
import type { TextEncoding } from './bank-file-format.ts';
import type { BankFile } from './open-bank-file.ts';

/**
 * Decodes a text file in chunks.
 * @throws ImportError as soon as it is clear that the file has another encoding or is not text
 */
export async function* decodeText({ name, start, chunks }: BankFile, encoding: TextEncoding): AsyncGenerator<string> {
  const problem = findStartProblem(start, encoding);
  if (problem) throw new ImportError(`${name} ${problem}`);

  const decoder = iconv.getDecoder(encoding);
  let onlyAscii = true;
  let line = 1;
  for await (const chunk of chunks) {
    if (onlyAscii && singleByte.has(encoding) && hasUtf8Characters(chunk)) {
      throw new ImportError(
        `${name} is in UTF-8, but the original is in ${encoding}; import the downloaded file unchanged`,
      );
    }
    onlyAscii &&= isAscii(chunk);
    yield check(decoder.write(chunk));
  }
  yield check(decoder.end() ?? '');

  function check(text: string): string {
    const invalid = text.indexOf(undecodable);
    if (invalid >= 0) {
      const place = line + countLines(text.slice(0, invalid));
      throw new ImportError(
        `${name}, line ${place}: bytes that are not ${encoding}; import the downloaded file unchanged`,
      );
    }
    line += countLines(text);
    return text;
  }
}

const singleByte: ReadonlySet<TextEncoding> = new Set(['windows-1250', 'windows-1252', 'iso-8859-1', 'cp852']);

/** Decoders replace invalid bytes with it. */
const undecodable = '\ufffd';

function findStartProblem(start: Buffer, encoding: TextEncoding): string | null {
  if (start.subarray(0, 2).toString('latin1') === 'PK') return 'is a workbook or an archive; expected a text file';
  const mark = start.subarray(0, 2).toString('hex');
  const isUtf16 = mark === 'fffe' || mark === 'feff';
  if (isUtf16 && encoding !== 'utf-16')
    return `is in UTF-16; expected ${encoding}. Import the downloaded file unchanged`;
  if (!isUtf16 && encoding === 'utf-16') return 'does not start with a byte order mark; expected UTF-16 with one';
  return null;
}

/**
 * Whether the bytes contain UTF-8 characters other than ASCII. Accented letters of a single-byte encoding practically
 * never form valid UTF-8, so the first chunk with any is enough to distinguish the two.
 */
function hasUtf8Characters(chunk: Buffer): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(chunk, { stream: true });
    return !isAscii(Buffer.from(text));
  } catch {
    return false;
  }
}

function countLines(text: string): number {
  let lines = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
