import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { messageLimits } from '../../../src/check/pain/read-message.ts';
import { findAllIn, rightMessage } from '../../support/check/pain-messages.ts';
import { refusedFiles } from '../../support/check/refused-files.ts';

const right = rightMessage('pain.001.001.09');

describe('refuses', () => {
  it.each(refusedFiles.filter(({ code }) => code !== 'ENCODING_NOT_UTF8'))(
    '$name: $code',
    async ({ code, content, line = 1, message = /^[A-Z].*\.$/ }) => {
      const { findings, summary } = await findAllIn(content);
      expect(findings.at(-1)).toMatchObject({ code, severity: 'error', place: { line }, suggestion: null });
      expect(findings.at(-1)?.message).toMatch(message);
      expect(findings.filter((finding) => finding.code === code)).toHaveLength(1);
      expect(summary.isComplete).toBe(false);
      // No text of the file, but names of XML.
      expect(findings.at(-1)?.message).not.toMatch(/DE89|secret|passwd|\bha\b/);
    },
  );

  it('says in which element', async () => {
    const { findings } = await findAllIn(right.replace('Creditor 2', '\u0001'));
    expect(findings).toEqual([
      {
        code: 'NOT_WELL_FORMED',
        severity: 'error',
        place: { line: 40, xpath: '/Document/CstmrCdtTrfInitn/PmtInf[1]/CdtTrfTxInf[2]/Cdtr/Nm' },
        message: 'The XML has a syntax error: disallowed character.',
        suggestion: null,
      },
    ]);
  });

  it('what is found before the file ends in the middle is reported', async () => {
    const changed = right.replace('Main Street', 'Hauptstraße').replace('TRF', 'XXX');
    const { findings, summary } = await findAllIn(changed.slice(0, changed.indexOf('INVOICE-2')));
    expect(findings.map(({ code }) => code)).toEqual(['WRONG_CODE', 'CHARACTERS_NOT_SEPA', 'TRUNCATED']);
    expect(summary).toMatchObject({ message: 'pain.001.001.09', transactions: 1, isComplete: false });
    const total = right.replace('<NbOfTxs>2<', '<NbOfTxs>9<');
    const after = await findAllIn(total.slice(0, total.indexOf('INVOICE-3')));
    expect(after.findings.map(({ code }) => code)).toEqual(['TRANSACTION_COUNT_MISMATCH', 'TRUNCATED']);
  });
});

describe('a file beyond a limit', () => {
  const inName = (text: string) => right.replace('Creditor 1', text);

  it.each([
    ['levels in another namespace', inName('<A xmlns="urn:a">'.repeat(messageLimits.depth))],
    ['attributes', inName('').replace('<Cdtr>', `<Cdtr ${attributes(messageLimits.attributes + 1)}>`)],
    ['characters of attributes', inName('').replace('<Cdtr>', `<Cdtr ${attributes(20, 'x'.repeat(5000))}>`)],
    ['characters of a tag name', inName(`<${'a'.repeat(messageLimits.nameLength + 1)}/>`)],
    ['characters of a comment', inName(`<!--${'-a'.repeat(messageLimits.tokenLength)}-->`)],
    ['characters of a text', inName('a'.repeat(messageLimits.partCharacters + 1))],
    ['characters of texts', inName(`<A>${'a'.repeat(9000)}</A>`.repeat(8))],
    ['characters in pieces', inName('a<!---->'.repeat(messageLimits.partCharacters + 1))],
    ['white space', `${' '.repeat(2 * messageLimits.tokenLength)}${right}`],
    ['characters of a processing instruction', inName(`<?a ${'b'.repeat(2 * messageLimits.tokenLength)}?>`)],
    ['elements of a transaction', inName('<A/>'.repeat(messageLimits.partElements))],
    ['elements of a header', right.replace('<InitgPty>', `${'<A/>'.repeat(messageLimits.partElements)}<InitgPty>`)],
    ['elements of a payment', right.replace('<ChrgBr>', `${'<A/>'.repeat(messageLimits.partElements)}<ChrgBr>`)],
  ])('is refused: %s', async (_, content) => {
    const { findings } = await findAllIn(content);
    expect(findings.at(-1)).toMatchObject({ code: 'LIMIT_EXCEEDED', severity: 'error' });
  });

  it('is refused when it has more bytes', async () => {
    const { findings } = await findAllIn(right, { maxBytes: 1000 });
    expect(findings).toMatchObject([{ code: 'LIMIT_EXCEEDED', message: 'The file is larger than 1000 bytes.' }]);
    expect((await findAllIn(right, { maxBytes: Buffer.byteLength(right) })).findings).toEqual([]);
  });

  function attributes(count: number, value = ''): string {
    return Array.from({ length: count }, (_, index) => `a${index}="${value}"`).join(' ');
  }
});

describe('an encoding', () => {
  const named = right.replace('Creditor 2', 'Café à Paris');
  const withEncoding = (name: string) => named.replace('UTF-8', name);

  it.each([
    ['utf-8', 'UTF-8 without a declaration', Buffer.from(named.replace(/<\?.*\?>\n/, '\n').trimStart())],
    ['utf-8', 'UTF-8 with a byte order mark', Buffer.from(`\uFEFF${named}`)],
    ['iso-8859-1', 'ISO-8859-1', iconv.encode(withEncoding('ISO-8859-1'), 'iso-8859-1')],
    ['iso-8859-15', 'ISO-8859-15', iconv.encode(withEncoding('iso-8859-15'), 'iso-8859-15')],
    ['windows-1252', 'Windows-1252', iconv.encode(withEncoding('Windows-1252'), 'windows-1252')],
    ['utf-16le', 'UTF-16 with a byte order mark', iconv.encode(withEncoding('UTF-16'), 'utf-16le', { addBOM: true })],
    ['utf-16be', 'UTF-16 in the other order', iconv.encode(withEncoding('UTF-16'), 'utf-16be', { addBOM: true })],
    ['utf-16be', 'UTF-16 without a byte order mark', iconv.encode(withEncoding('UTF-16BE'), 'utf-16be')],
  ])('is read: %s, %s', async (encoding, _, content) => {
    const { findings } = await findAllIn(content);
    const codes = findings.map(({ code }) => code);
    expect(codes).toEqual(
      encoding === 'utf-8' ? ['CHARACTERS_NOT_SEPA'] : ['ENCODING_NOT_UTF8', 'CHARACTERS_NOT_SEPA'],
    );
    expect(findings.at(-1)?.suggestion).toBe('Cafe a Paris');
    if (encoding !== 'utf-8') expect(findings[0]?.message).toContain(`The file is in ${encoding.toUpperCase()}.`);
  });

  it('is read in chunks of one byte', async () => {
    for (const content of [Buffer.from(named), iconv.encode(withEncoding('UTF-16'), 'utf-16le', { addBOM: true })]) {
      const { findings } = await findAllIn(inBytes(content));
      expect(findings.at(-1)).toMatchObject({ code: 'CHARACTERS_NOT_SEPA', suggestion: 'Cafe a Paris' });
    }
  });

  it('that the file has not is found at the text', async () => {
    const { findings } = await findAllIn(iconv.encode(named, 'iso-8859-1'));
    expect(findings).toMatchObject([
      {
        code: 'ENCODING_BROKEN',
        place: { line: 40, xpath: '/Document/CstmrCdtTrfInitn/PmtInf[1]/CdtTrfTxInf[2]/Cdtr/Nm' },
      },
    ]);
  });

  async function* inBytes(content: Buffer): AsyncGenerator<Buffer> {
    for (const byte of content) yield Buffer.of(byte);
  }
});
