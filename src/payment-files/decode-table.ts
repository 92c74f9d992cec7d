import iconv from 'iconv-lite';
import { type Decode, decodeText } from '../decode-text.ts';
import { type PaymentFile, PaymentFileError } from './open-file.ts';

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Decodes a table in UTF-8, UTF-16 or Windows-1252. @throws PaymentFileError for bytes of another encoding */
export function decodeTable(
  file: Pick<PaymentFile, 'name' | 'start' | 'chunks'>,
  onEncoding: (encoding: TextEncoding) => void = () => {},
): AsyncGenerator<string> {
  return decodeText(file, 'windows-1252', (encoding): Decode => {
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
  });
}
