import type { RuleCode } from '../../../src/check/finding.ts';
import { rightMessage } from './pain-messages.ts';

const right = rightMessage('pain.001.001.09');
const declare = (encoding: string) => right.replace('UTF-8', encoding);

interface RefusedFile {
  name: string;
  code: RuleCode;
  content: string | Buffer;
  /** Without one, 1. */
  line?: number;
  message?: RegExp;
}

/** Files that end the check, or whose encoding does not matter to it. */
export const refusedFiles: readonly RefusedFile[] = [
  { name: 'an empty file', code: 'NOT_XML', content: '' },
  { name: 'a table', code: 'NOT_XML', content: 'iban;name\nDE89370400440532013000;Ink and Paper Ltd\n' },
  { name: 'JSON', code: 'NOT_XML', content: '{"iban": "DE89370400440532013000"}' },
  { name: 'a workbook', code: 'NOT_XML', content: Buffer.from('504b0304140008080800', 'hex') },
  { name: 'random bytes', code: 'NOT_XML', content: Buffer.from('ab'.repeat(2000), 'hex') },
  {
    name: 'an element that is closed by another one',
    code: 'NOT_WELL_FORMED',
    content: right.replace('</MsgId>', '</Msg>'),
    line: 5,
  },
  {
    name: 'an entity that is not defined',
    code: 'NOT_WELL_FORMED',
    content: right.replace('MESSAGE-1', '&secret;'),
    line: 5,
  },
  {
    name: 'an ampersand in a name',
    code: 'NOT_WELL_FORMED',
    content: right.replace('Creditor 1', 'Pen & Paper'),
    line: 29,
    message: /^An & in line 29 is not followed by the name of a character\. Write &amp; in its place\.$/,
  },
  {
    name: 'an ampersand before a semicolon in a later text',
    code: 'NOT_WELL_FORMED',
    content: right.replace('Creditor 1', 'Pen &amp; Paper\n& Ink').replace('Creditor 2', 'Pen; ink'),
    line: 30,
    message: /^An & in line 30 /,
  },
  {
    name: 'an ampersand in a large file',
    code: 'NOT_WELL_FORMED',
    content: right
      .replace('Creditor 1', 'Pen & Paper')
      .replace('</CdtTrfTxInf>', `</CdtTrfTxInf>${' '.repeat(200_000)}`),
    line: 29,
    message: /^An & in line 29 /,
  },
  {
    name: 'a comment with an ampersand that does not end',
    code: 'TRUNCATED',
    content: right.replace('Creditor 1', '<!-- & -'),
    line: right.split('\n').length,
  },
  {
    name: 'a less-than sign in a name',
    code: 'NOT_WELL_FORMED',
    content: right.replace('Creditor 1', 'Pen < Paper'),
    line: 29,
    message: /write &lt; for <\.$/,
  },
  {
    name: 'an earlier version of German banks',
    code: 'UNSUPPORTED_MESSAGE',
    content: right.replace('urn:iso:std:iso:20022:tech:xsd:pain.001.001.09', 'urn:sepade:xsd:pain.001.001.02'),
    line: 2,
    message: /^The message is pain\.001\.001\.02 of the German community\./,
  },
  { name: 'a control character', code: 'NOT_WELL_FORMED', content: right.replace('MESSAGE-1', '\u0001'), line: 5 },
  { name: 'a second root', code: 'NOT_WELL_FORMED', content: `${right}<Document/>`, line: right.split('\n').length },
  { name: 'half of a file', code: 'TRUNCATED', content: right.slice(0, right.indexOf('PAYMENT-1')), line: 12 },
  {
    name: 'a file without its last tag',
    code: 'TRUNCATED',
    content: right.replace('</Document>\n', ''),
    line: right.split('\n').length - 1,
  },
  {
    name: 'entities that multiply (billion laughs)',
    code: 'DOCTYPE_REFUSED',
    content: `<!DOCTYPE Document [<!ENTITY a0 "ha">${[1, 2, 3, 4, 5, 6, 7, 8, 9]
      .map((number) => `<!ENTITY a${number} "${`&a${number - 1};`.repeat(10)}">`)
      .join('')}]><Document>&a9;</Document>`,
  },
  {
    name: 'an external entity',
    code: 'DOCTYPE_REFUSED',
    content: `<!DOCTYPE Document [<!ENTITY file SYSTEM "file:///etc/passwd">]><Document>&file;</Document>`,
  },
  {
    name: 'an external DTD',
    code: 'DOCTYPE_REFUSED',
    content: `<!DOCTYPE Document SYSTEM "http://127.0.0.1/x.dtd"><Document/>`,
  },
  {
    name: 'elements in elements',
    code: 'LIMIT_EXCEEDED',
    content: right.replace('<Nm>Creditor 1', '<A>'.repeat(100)),
    line: 29,
  },
  {
    name: 'an encoding that is not supported',
    code: 'ENCODING_NOT_SUPPORTED',
    content: declare('Shift_JIS'),
    message: /^The encoding Shift_JIS is not supported\. Save the file in UTF-8;/,
  },
  {
    name: 'UTF-32',
    code: 'ENCODING_NOT_SUPPORTED',
    content: Buffer.from('0000feff0000003c', 'hex'),
    message: /UTF-32/,
  },
  { name: 'EBCDIC', code: 'ENCODING_NOT_SUPPORTED', content: Buffer.from('4c6fa79493', 'hex'), message: /EBCDIC/ },
  {
    name: 'UTF-8 that is declared as UTF-16',
    code: 'ENCODING_CONTRADICTION',
    content: declare('utf-16'),
    message: /^The XML declaration says utf-16, but the file has/,
  },
  {
    name: 'UTF-8 with a byte order mark that is declared as ISO-8859-1',
    code: 'ENCODING_CONTRADICTION',
    content: `\uFEFF${declare('ISO-8859-1')}`,
  },
  { name: 'ISO-8859-1', code: 'ENCODING_NOT_UTF8', content: Buffer.from(declare('ISO-8859-1'), 'latin1') },
  { name: 'no namespace', code: 'WRONG_NAMESPACE', content: right.replace(/ xmlns="[^"]*"/, ''), line: 2 },
  { name: 'a web page', code: 'WRONG_NAMESPACE', content: '<html xmlns="http://www.w3.org/1999/xhtml"><p/></html>' },
  {
    name: 'a later version',
    code: 'UNSUPPORTED_MESSAGE',
    content: right.replace('001.001.09', '001.001.99'),
    line: 2,
    message: /^The message is pain\.001\.001\.99\. These are checked: pain\.001\.001\.03, /,
  },
  {
    name: 'the status report of a bank',
    code: 'UNSUPPORTED_MESSAGE',
    content: right.replace('pain.001.001.09', 'pain.002.001.10').replaceAll('CstmrCdtTrfInitn', 'CstmrPmtStsRpt'),
    line: 2,
    message: /^The file is pain\.002\.001\.10, the status report of a bank\. .*: ledgerquill check .* --report /,
  },
  ...[
    ['with another prefix', 'urn:iso:std:iso:20022:tech:xds:pain.001.001.09'],
    ['without a prefix', 'pain.001.001.09'],
    ['with a capital', 'urn:iso:std:iso:20022:tech:xsd:Pain.001.001.09'],
  ].map(
    ([name = '', namespace = '']): RefusedFile => ({
      name: `a namespace ${name}`,
      code: 'WRONG_NAMESPACE',
      content: right.replace('urn:iso:std:iso:20022:tech:xsd:pain.001.001.09', namespace),
      line: 2,
      message: /^The root element must be in the namespace urn:iso:std:iso:20022:tech:xsd:pain\.001\.001\.09\.$/,
    }),
  ),
  {
    name: 'a message between banks',
    code: 'UNSUPPORTED_MESSAGE',
    content: right.replace('pain.001.001.09', 'pacs.008.001.08'),
    line: 2,
  },
  {
    name: 'a statement',
    code: 'UNSUPPORTED_MESSAGE',
    content: right.replace('pain.001.001.09', 'camt.053.001.08'),
    line: 2,
  },
  {
    name: 'a direct debit in a credit transfer',
    code: 'WRONG_ROOT',
    content: right.replaceAll('CstmrCdtTrfInitn', 'CstmrDrctDbtInitn'),
    line: 3,
  },
  { name: 'an envelope', code: 'WRONG_ROOT', content: right.replaceAll('Document', 'Envelope'), line: 2 },
  {
    name: 'a message without the prefix of its document',
    code: 'WRONG_ROOT',
    content: right.replace('<Document xmlns=', '<p:Document xmlns:p=').replace('</Document>', '</p:Document>'),
    line: 3,
    message: /^CstmrCdtTrfInitn has another namespace than Document\./,
  },
  { name: 'an empty document', code: 'WRONG_ROOT', content: right.replace(/<Cstmr.*<\/Cstmr\w*>/s, ''), line: 4 },
];
