import iconv from 'iconv-lite';

/** The encodings that can be named. Others are recognized as those of them that have the same letters. */
export const textEncodings = [
  'utf-8',
  'utf-16le',
  'utf-16be',
  'windows-1250',
  'windows-1251',
  'windows-1252',
  'iso-8859-2',
  'iso-8859-15',
  'cp850',
  'cp852',
] as const;
export type TextEncoding = (typeof textEncodings)[number];

type SingleByteEncoding = Extract<TextEncoding, `windows-${string}`>;

/**
 * The encoding of a text with letters beyond ASCII that is not UTF-8: that of Windows in Western or Central Europe, or in Cyrillic.
 * Signs within a word are letters of another encoding, and so are three letters with accents in a row.
 * @example
 * findSingleByteEncoding(Buffer.from([0xaf, 0xf3, 0xb3, 0xe6])) // => 'windows-1250'
 */
export function findSingleByteEncoding(bytes: Buffer): SingleByteEncoding {
  const text = iconv.decode(bytes.subarray(0, sampleBytes), 'windows-1252');
  const words = text.split(/[\s;,|"'()/.:-]+/).filter((word) => /[^\p{ASCII}]/u.test(word) && /\p{L}/u.test(word));
  const cyrillic = words.filter((word) => /[\u00c0-\u00ff]{3}/.test(word)).length;
  if (cyrillic * 2 > words.length) return 'windows-1251';
  const central = words.filter(
    (word) => centralPatterns.some((pattern) => pattern.test(word)) && !/^\p{Ll}{1,2}\u00b3$/u.test(word),
  ).length;
  return central > 0 && central * 10 >= words.length ? 'windows-1250' : 'windows-1252';
}

const sampleBytes = 65_536;

/** Signs beside letters, in Windows-1252, that are letters in Windows-1250. */
// cspell:disable
const centralPatterns = [
  /[£¥¯³¹¼¾Ÿ\ufffd]\p{L}|\p{L}[£¥¯³¹¿¼¾Ÿ\ufffd]/u,
  /[øìùòï].*[áýíšžŠŽ]|[áýíšžŠŽ].*[øìùòï]/,
  /[èæ].*[šžŠŽæ]|[šžŠŽ].*[èæ]|iæ$/,
];
