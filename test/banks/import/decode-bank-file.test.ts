import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import type { TextEncoding } from '../../../src/banks/import/files/bank-file-format.ts';
import { decodeBankFile } from '../../../src/banks/import/files/decode-bank-file.ts';

const text = 'Bank;Łódź;Żółw;Köln\r\n';

function tBankFile(chunks: readonly Buffer[]): Parameters<typeof decodeBankFile>[0] {
  async function* read() {
    yield* chunks;
  }
  return { name: 'x.csv', start: Buffer.concat(chunks), chunks: read() };
}

async function decode(published: TextEncoding, chunks: readonly Buffer[]) {
  const { pieces, encoding } = decodeBankFile(tBankFile(chunks), published);
  let decoded = '';
  for await (const piece of pieces) decoded += piece;
  return { decoded, encoding: encoding() };
}

describe('the text of a file', () => {
  it.each([
    ['as published', 'windows-1250', 'windows-1250', false],
    ['as a copy in UTF-8', 'windows-1250', 'utf-8', false],
    ['as a copy in UTF-8 with a byte order mark', 'cp852', 'utf-8', true],
    ['as a copy in UTF-16', 'cp852', 'utf-16le', true],
    ['as a copy in UTF-16 without a byte order mark', 'windows-1250', 'utf-16le', false],
    ['as a copy in UTF-16 of the other order', 'utf-8', 'utf-16be', true],
    ['of the ECB as a copy in UTF-8', 'utf-16', 'utf-8', false],
  ] as const)('is decoded %s, wherever a chunk ends', async (_, published, encoding, addBOM) => {
    const bytes = iconv.encode(text, encoding, { addBOM });
    for (let at = 1; at < bytes.length; at++) {
      expect(await decode(published, [bytes.subarray(0, at), bytes.subarray(at)])).toEqual({ decoded: text, encoding });
    }
    const single = Array.from(bytes, (_, at) => bytes.subarray(at, at + 1));
    expect(await decode(published, single)).toEqual({ decoded: text, encoding });
  });

  it.each(['windows-1252', 'utf-8', 'utf-16'] as const)('of %s may be ASCII', async (published) => {
    expect((await decode(published, [Buffer.from('a;b\n'), Buffer.from('c;d\n')])).decoded).toBe('a;b\nc;d\n');
  });

  it('may end with a letter of a single byte', async () => {
    expect((await decode('windows-1252', [Buffer.from('Zü', 'latin1')])).decoded).toBe('Zü');
  });

  it.each([
    ['gzip', '1f8b0800', 'x.csv is compressed with gzip; unpack it first'],
    ['a ZIP archive', '504b0304', 'x.csv is a workbook or an archive; expected a text file'],
    ['an old workbook', 'd0cf11e0a1b11ae1', 'x.csv is a workbook or an archive; expected a text file'],
  ])('is not that of %s', async (_, hex, message) => {
    await expect(decode('utf-8', [Buffer.from(hex, 'hex')])).rejects.toThrow(message);
  });
});
