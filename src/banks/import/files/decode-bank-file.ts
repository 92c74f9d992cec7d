import { isAscii, isUtf8 } from 'node:buffer';
import iconv from 'iconv-lite';
import { type DecodedText, decodeText } from '../../../base/decode-text.ts';
import { type InputFile, recognizeKind } from '../../../base/input-file.ts';
import { ImportError } from './bank-file.ts';
import type { TextEncoding } from './bank-file-format.ts';

/**
 * Decodes a text file in chunks, in the encoding of its publisher, or as a copy in UTF-8 or UTF-16, with or without a byte
 * order mark. Reading it rejects with an ImportError if the file is not text, or in an encoding that is not recognized.
 */
export function decodeBankFile(file: TextFile, published: TextEncoding): DecodedText<string> {
  const { pieces, encoding } = decodeText(file, { other: published });
  return { pieces: checkPieces(), encoding };

  async function* checkPieces(): AsyncGenerator<string> {
    rejectBinary(file);
    for await (const piece of pieces) {
      if (encoding() === 'utf-16') {
        throw new ImportError(
          `${file.name} is neither in utf-16, as it is published, nor in utf-8; import the downloaded file unchanged`,
        );
      }
      yield piece;
    }
  }
}

type TextFile = Pick<InputFile, 'name' | 'start' | 'chunks'>;

/** Whether a text in UTF-8 was read as Windows-1252, and saved again: Zürich has become ZÃ¼rich. */
export function isDecodedTwice(text: string): boolean {
  const bytes = iconv.encode(text, 'windows-1252');
  return !isAscii(bytes) && isUtf8(bytes);
}

function rejectBinary({ name, start }: TextFile): void {
  const kind = recognizeKind(start);
  if (kind === 'archive' || kind === 'old-workbook') {
    throw new ImportError(`${name} is a workbook or an archive; expected a text file`);
  }
  if (kind === 'gzip') throw new ImportError(`${name} is compressed with gzip; unpack it first`);
}
