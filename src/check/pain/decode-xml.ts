import iconv from 'iconv-lite';
import { chain, limitBytes, take } from '../../base/input-file.ts';
import { Refusal } from '../finding.ts';
import { readList } from './code-lists.ts';

interface DecodeOptions {
  /** The file is refused when it is longer: a message of a million transactions has less than 1 GB. */
  maxBytes?: number | undefined;
  /** Receives the encoding before the first piece. */
  onEncoding?: (encoding: string) => void;
}

/**
 * Decodes an XML file in the encoding of its byte order mark or XML declaration. The mark is the
 * first character. Bytes that are not characters of the encoding become U+FFFD.
 * @throws Refusal if the encoding is not supported, or contradicts the bytes, or if the file is too large
 */
export async function* decodeXml(
  chunks: AsyncIterable<Buffer>,
  { maxBytes = 1_000_000_000, onEncoding = () => {} }: DecodeOptions = {},
): AsyncGenerator<string> {
  const limit = maxBytes >= 1e6 ? `${Math.round(maxBytes / 1e6)} MB` : `${maxBytes} bytes`;
  const tooLarge = () => new Refusal('LIMIT_EXCEEDED', `The file is larger than ${limit}.`);
  const rest = limitBytes(chunks, maxBytes, tooLarge);
  let start: Buffer = Buffer.alloc(0);
  while (start.length < maxDeclarationBytes && !start.includes('>')) {
    const [next] = await take(rest, (taken) => taken < 1);
    if (next === undefined) break;
    start = Buffer.concat([start, next]);
  }
  const encoding = findEncoding(start);
  onEncoding(encoding);
  const decoder = iconv.getDecoder(encoding, { stripBOM: false });
  for await (const bytes of chain([start], rest)) {
    const piece = decoder.write(bytes);
    if (piece !== '') yield piece;
  }
  const end = decoder.end();
  if (end) yield end;
}

/** An XML declaration has fewer bytes than this. */
const maxDeclarationBytes = 1024;

function findEncoding(bytes: Buffer): Encoding {
  const detected = detectEncoding(bytes);
  if (detected === 'UTF-32' || detected === 'EBCDIC') throw refuseEncoding(detected);
  const start = iconv.decode(bytes.subarray(0, maxDeclarationBytes), detected ?? 'iso-8859-1');
  const [, declared] = /^\s*<\?xml\s[^>]*?\sencoding\s*=\s*["']([A-Za-z][\w.-]{0,39})["']/.exec(start) ?? [];
  if (declared === undefined) return detected ?? 'utf-8';
  const encoding = encodingsByName.get(declared.toLowerCase());
  if (encoding === undefined) throw refuseEncoding(declared);
  if (detected === null && encoding.startsWith('utf-16'))
    throw contradiction(declared, 'bytes of a single-byte encoding');
  if (detected === null) return encoding;
  // UTF-16 without LE or BE has the byte order of the file.
  const isSame = detected === encoding || (declared.toLowerCase() === 'utf-16' && detected.startsWith('utf-16'));
  if (!isSame) throw contradiction(declared, `bytes of ${detected.toUpperCase()}`);
  return detected;
}

type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'iso-8859-1' | 'iso-8859-15' | 'windows-1252';

/** By its names in lower case. */
const encodingsByName = readList('encoding') as ReadonlyMap<string, Encoding>;

/** By the byte order mark, or the first characters, which are `<` and another one; null for all encodings that extend ASCII. */
function detectEncoding(bytes: Buffer): Encoding | 'UTF-32' | 'EBCDIC' | null {
  const hex = bytes.subarray(0, 4).toString('hex');
  if (hex === '0000feff' || hex === 'fffe0000' || hex === '0000003c' || hex === '3c000000') return 'UTF-32';
  if (hex.startsWith('efbbbf')) return 'utf-8';
  if (hex.startsWith('fffe') || hex.startsWith('3c00')) return 'utf-16le';
  if (hex.startsWith('feff') || hex.startsWith('003c')) return 'utf-16be';
  return hex === '4c6fa794' ? 'EBCDIC' : null;
}

function refuseEncoding(name: string): Refusal {
  const supported = 'UTF-8; ISO-8859-1, ISO-8859-15, Windows-1252 and UTF-16 are read, too';
  return new Refusal('ENCODING_NOT_SUPPORTED', `The encoding ${name} is not supported. Save the file in ${supported}.`);
}

function contradiction(declared: string, bytes: string): Refusal {
  return new Refusal(
    'ENCODING_CONTRADICTION',
    `The XML declaration says ${declared}, but the file has ${bytes}. Declare the encoding in which the file was saved.`,
  );
}
