// cspell:ignore Mullerweg Sohne uuml ller
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import type { Change } from '../../../src/check/finding.ts';
import { fixMessage } from '../../../src/check/pain/fix-message.ts';
import type { Profile } from '../../../src/check/pain/profiles.ts';
import { detailedMessage, findNode, changes as mutate, printMessage } from '../../support/check/mutate-xml.ts';
import { findAllIn, rightMessage, type Version, versions } from '../../support/check/pain-messages.ts';
import { memoryInUse } from '../../support/measure.ts';

const right = rightMessage('pain.001.001.09');

async function fix(message: string | Buffer, { profile = 'auto' as Profile, chunkSize = 50_000 } = {}) {
  const bytes = Buffer.from(message);
  const changes: Change[] = [];
  const parts: Buffer[] = [];
  async function* open() {
    for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
  }
  for await (const part of fixMessage(open, {
    profile,
    today: '2026-11-26',
    onChange: (change) => void changes.push(change),
  })) {
    parts.push(part);
  }
  const copy = Buffer.concat(parts);
  return { copy, text: copy.toString(), changes };
}

describe('what is certain', () => {
  const iban = 'FR1420041010050500013M02606';
  const bic = (text: string) => `<BICFI>${text}</BICFI>`;
  const notProvided = '<Othr><Id>NOTPROVIDED</Id></Othr>';
  it.each<[name: string, code: string, right: string, wrong: string, fixed?: string, profile?: Profile]>([
    ['spaces in an IBAN', 'IBAN_NOT_COMPACT', iban, 'FR14 2004 1010 0505 0001 3M02 606'],
    ['line breaks around an IBAN', 'IBAN_NOT_COMPACT', iban, `\n ${iban}\r\n`],
    ['a number of transactions', 'TRANSACTION_COUNT_MISMATCH', '<NbOfTxs>3<', '<NbOfTxs>4<'],
    ['a number that is none', 'WRONG_NUMBER', '<NbOfTxs>2<', '<NbOfTxs>two<'],
    ['a sum', 'CONTROL_SUM_MISMATCH', '<CtrlSum>1112.35<', '<CtrlSum>1112.30<'],
    ['a sum with a comma', 'WRONG_NUMBER', '<CtrlSum>112.35<', '<CtrlSum>112,35<'],
    ['white space in a code', 'TEXT_TOO_LONG', '<Cd>SEPA<', '<Cd>\n  SEPA<', '<Cd>SEPA<'],
    ['white space in another code', 'WRONG_VALUE', '<PmtMtd>TRF<', '<PmtMtd>TRF <'],
    ['letters outside the SEPA set', 'CHARACTERS_NOT_SEPA', 'Creditor 1', 'Müller', 'Muller'],
    ['an escaped sign', 'CHARACTERS_NOT_SEPA', 'Creditor 1', 'A &amp; B', 'A + B'],
    ['a sign that is not escaped', 'CHARACTERS_NOT_SEPA', 'Creditor 1', 'Müller & Söhne', 'Muller + Sohne'],
    [
      'a Belgian reference in asterisks',
      'CHARACTERS_NOT_SEPA',
      'Creditor 1',
      '***090/9337/55493***',
      '+++090/9337/55493+++',
    ],
    ['a CDATA section', 'CHARACTERS_NOT_SEPA', 'Creditor 1', '<![CDATA[A & <B>]]>', 'A + .B.'],
    ['only other characters, by German banks', 'CHARACTERS_NOT_SEPA', 'Creditor 1', 'Łü & =', 'Lü &amp; .', 'dk'],
    ['characters outside the Swiss set', 'CHARACTERS_NOT_SWISS', 'Creditor 1', 'Елена ü', 'Elena ü', 'sps'],
    ['an & that ISO allows', 'NOT_WELL_FORMED', 'Creditor 1', 'A & B', 'A &amp; B', 'iso'],
    ['a country in small letters', 'COUNTRY_INVALID', '<Ctry>FR<', '<Ctry> fr<'],
    ['a service level in small letters', 'SERVICE_LEVEL_UNKNOWN', '<Cd>SEPA<', '<Cd>sepa <'],
    ['a charge bearer in small letters', 'CHARGE_BEARER_NOT_SLEV', '<ChrgBr>SLEV<', '<ChrgBr>slev<'],
    ['shared charges, which SLEV is in SEPA', 'CHARGE_BEARER_NOT_SLEV', '<ChrgBr>SLEV<', '<ChrgBr>SHAR<'],
    ['a BIC in small letters', 'BIC_ILLEGAL_CHARACTERS', bic('COBADEFFXXX'), bic('cobadeff xxx')],
    ['a BIC that says NOTPROVIDED', 'BIC_NOT_PROVIDED', bic('COBADEFFXXX'), bic('NOTPROVIDED'), notProvided],
    ['a BIC of 2009', 'ELEMENT_OF_OTHER_VERSION', bic('COBADEFFXXX'), '<BIC>COBADEFFXXX</BIC>'],
    ['a date of 2009', 'ELEMENT_OF_OTHER_VERSION', '<Dt>2026-11-30</Dt>', '2026-11-30'],
    [
      'the BIC NOTPROVIDED of a payee',
      'BIC_NOT_PROVIDED',
      '\n        <CdtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></CdtrAgt>',
      '\n        <CdtrAgt><FinInstnId><BICFI>NOTPROVIDED</BICFI></FinInstnId></CdtrAgt>',
      '',
    ],
  ])('is repaired: %s', async (_, code, good, wrong, fixed = good, profile = 'auto') => {
    // German banks have another finding about the banks of payees.
    const message = profile === 'dk' ? right.replaceAll(/\s*<CdtrAgt>.*<\/CdtrAgt>/g, '') : right;
    const { text, changes } = await fix(message.replace(good, wrong), { profile });
    expect(text).toBe(message.replace(good, fixed));
    expect(changes.map((change) => change.code)).toEqual([code]);
  });

  it('are banks of payees that are not provided, which German banks refuse', async () => {
    // A comment is not lost.
    const commented = right.replace('<CdtrAgt><FinInstnId>', '<CdtrAgt><FinInstnId><!-- bank -->');
    const { text, changes } = await fix(commented, { profile: 'dk' });
    expect(text).toBe(commented.replaceAll(/\s*<CdtrAgt><FinInstnId><Othr>.*<\/CdtrAgt>/g, ''));
    expect(changes.map(({ code, before, after }) => [code, before, after])).toEqual(
      [2, 3].map(() => ['PAYEE_BANK_OTHER', 'CdtrAgt/FinInstnId/Othr NOTPROVIDED', '']),
    );
  });

  it.each<[name: string, version: Version, iban: string, isAdded: boolean]>([
    ['of 2019', 'pain.008.001.08', 'NL91ABNA0417164300', true],
    ['of 2009', 'pain.008.001.02', 'NL91ABNA0417164300', true],
    ['from outside the European Economic Area', 'pain.008.001.08', 'CH9300762011623852957', false],
    ['from a wrong IBAN', 'pain.008.001.08', 'NL91ABNA0417164301', false],
  ])('is the bank of a payer by its IBAN in a direct debit %s', async (_, version, iban, isAdded) => {
    const prefixed = rightMessage(version).replace('NL91ABNA0417164300', iban);
    const bank = '        <DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></DbtrAgt>\n';
    const at = prefixed.lastIndexOf(bank, prefixed.indexOf(iban));
    const wrong = prefixed.slice(0, at) + prefixed.slice(at + bank.length);
    const { text, changes } = await fix(wrong);
    expect(text).toBe(isAdded ? prefixed : wrong);
    const xpath = '/Document/CstmrDrctDbtInitn/PmtInf[1]/DrctDbtTxInf[2]/DbtrAgt';
    expect(changes).toMatchObject(isAdded ? [{ code: 'MISSING_ELEMENT', xpath }] : []);
    // The rules of other schemes may want a BIC.
    expect((await fix(wrong, { profile: 'iso' })).changes).toEqual([]);
  });

  it('is an address whose lines can be read in one way, with the other repairs of its lines', async () => {
    const address = (content: string) => right.replace(/(?<=<Cdtr>.*?<PstlAdr>).*?(?=<\/PstlAdr>)/s, content);
    const wrong = address('<Ctry>de</Ctry><AdrLine>Müllerweg 3</AdrLine> <AdrLine>97070 Würz&#98;urg & </AdrLine>');
    expect((await fix(wrong)).text).toBe(
      address('<Ctry>DE</Ctry><AdrLine>Mullerweg 3</AdrLine> <AdrLine>97070 Wurzburg +</AdrLine>'),
    );
    const { text, changes } = await fix(wrong.replace(' & ', ''));
    expect(text).toBe(
      address('<StrtNm>Mullerweg</StrtNm><BldgNb>3</BldgNb><PstCd>97070</PstCd><TwnNm>Wurzburg</TwnNm><Ctry>DE</Ctry>'),
    );
    expect(changes.map(({ code, before, after }) => [code, before, after])).toEqual([
      [
        'ADDRESS_WITHOUT_TOWN',
        'Müllerweg 3, 97070 Würzburg',
        'StrtNm Mullerweg, BldgNb 3, PstCd 97070, TwnNm Wurzburg',
      ],
      ['COUNTRY_INVALID', 'de', 'DE'],
    ]);
    const { findings } = await findAllIn(text);
    expect(findings).toEqual([]);
  });

  it('has a line, an XPath and both texts in the list', async () => {
    const wrong = right
      .replace('<NbOfTxs>3<', '<NbOfTxs>4<')
      .replace('Creditor 1', 'Müller & DE89370400440532013000')
      .replace('NL91ABNA0417164300', 'NL91 ABNA 0417 1643 00')
      .replace('Ltd', 'Ltd & Co');
    const { changes } = await fix(`\n\n${wrong}`);
    const message = '/Document/CstmrCdtTrfInitn';
    const payment = `${message}/PmtInf[1]`;
    expect(changes).toMatchObject([
      { code: 'NOT_XML', line: 1, xpath: '/', before: '\n\n', after: '' },
      { line: 9, xpath: `${message}/GrpHdr/NbOfTxs`, before: '4', after: '3' },
      { line: 11, xpath: `${message}/GrpHdr/InitgPty/Nm`, before: 'Ink and Paper Ltd & Co' },
      { xpath: `${payment}/CdtTrfTxInf[1]/Cdtr/Nm`, before: 'Müller & [IBAN]', after: 'Muller + [IBAN]' },
      { code: 'IBAN_NOT_COMPACT', before: 'NL91 **** **** **43 00', after: 'NL91 **** **** **43 00' },
    ]);
  });

  it('is the same in chunks of any size', async () => {
    const wrong = right.replaceAll('Creditor', 'Müller & Söhne').replaceAll('Invoice', '<!-- & -->A & B &uuml');
    const whole = await fix(wrong);
    for (const chunkSize of [1, 2, 3, 7]) expect(await fix(wrong, { chunkSize })).toEqual(whole);
    expect(whole.changes.length).toBeGreaterThan(5);
  });
});

describe('totals of which it is not certain that they are wrong', () => {
  const second = /<CdtTrfTxInf>(?:(?!<CdtTrfTxInf>).)*INVOICE-2.*?<\/CdtTrfTxInf>/s;
  const payment2 = /<PmtInf>(?:(?!<PmtInf>).)*PAYMENT-2.*<\/PmtInf>/s;
  const without = (...parts: readonly (RegExp | string)[]) => parts.map((part) => [part, ''] as const);
  it.each<[name: string, codes: readonly string[], change: readonly (readonly [from: RegExp | string, to: string])[]]>([
    ['a transaction is missing', ['COUNT', 'SUM', 'COUNT', 'SUM'], without(second)],
    ['a payment is missing', ['COUNT', 'SUM'], without(payment2)],
    [
      'a transaction of a payment without totals',
      ['COUNT', 'SUM'],
      [[second, ''], ...without('<NbOfTxs>2</NbOfTxs><CtrlSum>112.35</CtrlSum>')],
    ],
    ['an amount is wrong', ['SUM', 'SUM'], [['>12.35<', '>123.50<']]],
    [
      'an amount is wrong, and one sum declared',
      ['SUM'],
      [['>12.35<', '>123.50<'], ...without('<CtrlSum>112.35</CtrlSum>')],
    ],
    [
      'a number that only one header declares',
      ['COUNT'],
      [['<NbOfTxs>3<', '<NbOfTxs>4<'], ...without(/<CtrlSum>[^<]*<\/CtrlSum>/g, /<NbOfTxs>[12]<\/NbOfTxs>/g)],
    ],
    [
      'there are no transactions',
      ['COUNT'],
      [
        [/<CdtTrfTxInf>.*?<\/CdtTrfTxInf>/gs, ''],
        ...without(payment2, /<CtrlSum>[^<]*<\/CtrlSum>/g, /<NbOfTxs>2<\/NbOfTxs>/),
      ],
    ],
  ])('are findings, and not repaired: %s', async (_, codes, change) => {
    const message = change.reduce((text, [from, to]) => text.replace(from, to), right);
    const { text, changes } = await fix(message);
    expect({ text, changes }).toEqual({ text: message, changes: [] });
    const { findings } = await findAllIn(message);
    const found = findings.filter(({ code }) => code.endsWith('_MISMATCH'));
    expect(found.map(({ code }) => code.replace(/^TRANSACTION_|^CONTROL_|_MISMATCH$/g, ''))).toEqual(codes);
    for (const { severity, suggestion, message: said } of found) {
      expect({ severity, suggestion }).toEqual({ severity: 'error', suggestion: null });
      expect(said).toMatch(/A transaction may be missing or wrong: compare the message with its source\.$/);
    }
  });
});

describe('all else is as it was', () => {
  it.each([
    ['an amount', 'Ccy="EUR">12.35<', 'Ccy="EUR"> 12,35 <'],
    ['a wrong IBAN', 'FR1420041010050500013M02606', 'FR14 2004 1010 0505 0001 3M02 607'],
    ['an IBAN in lower case', 'FR1420041010050500013M02606', 'fr1420041010050500013m02606'],
    ['a reference', 'INVOICE-1<', 'RECHNUNG_Ü<'],
    ['a text with a comment', 'Creditor 1', 'Mü<!-- a -->ller'],
    ['letters without an equivalent', 'Creditor 1', '王'],
    ['a name that would be too long', 'Creditor 1', 'θ'.repeat(70)],
    [
      'line breaks, quotes and comments',
      '<CtrlSum>1112.35',
      "\r\n<!-- & <a> --><?a & ?>\t<CtrlSum xmlns:x='a'>1112.35",
    ],
  ])('%s', async (_, good, wrong) => {
    const message = right.replace(good, wrong).replace('<CtrlSum>112.35</CtrlSum>', '');
    const { text, changes } = await fix(message);
    const isTotal = ({ code }: Change) => code === 'CONTROL_SUM_MISMATCH';
    expect(changes.filter((change) => !isTotal(change))).toEqual([]);
    if (changes.length === 0) expect(text).toBe(message);
  });

  it('a right message', async () => {
    for (const version of versions) {
      const message = `\uFEFF${rightMessage(version)}\r\n<!-- end -->`;
      expect(await fix(message)).toEqual({ copy: Buffer.from(message), text: message, changes: [] });
    }
  });

  it.each(['utf-16le', 'iso-8859-1', 'windows-1252'])('the encoding %s', async (encoding) => {
    const message = right
      .replace('UTF-8', encoding)
      .replace('<?xml', encoding === 'utf-16le' ? '\uFEFF<?xml' : '<?xml');
    const wrong = message.replace('Creditor 1', 'Müller & ß &#8364;').replace('Creditor 2', 'Müller');
    const { copy } = await fix(iconv.encode(wrong, encoding), { profile: 'sps' });
    expect(iconv.decode(copy, encoding, { stripBOM: false })).toBe(wrong.replace(' & ', ' &amp; '));
  });

  it.each([
    ['the name of a character', right.replace('Creditor 1', 'M&uuml;ller')],
    ['an end that is missing', right.slice(0, -20)],
    ['bytes that are not characters', Buffer.from(right.replace('Creditor 1', 'Müller'), 'latin1')],
  ])('there is no copy with %s', async (_, message) => {
    await expect(fix(message)).rejects.toMatchObject({ name: 'Refusal' });
  });
});

describe('a copy that is checked again', () => {
  it('has none of the findings that were repaired, and no others', async () => {
    let repaired = 0;
    for (const version of versions) {
      for (const path of ['GrpHdr/NbOfTxs', 'GrpHdr/CtrlSum', 'PmtInf/NbOfTxs', 'PmtInf/CtrlSum', ...leaves]) {
        for (const change of ['space-padded', 'newline-padded', 'bad-value', 'umlaut', 'ampersand']) {
          const message = detailedMessage(version);
          const found = findNode(message, path);
          if (found === null || found.node.text === null) continue;
          if (change === 'umlaut') found.node.text += 'ü';
          else if (change === 'ampersand') found.node.text += 'ampersand';
          else mutate[change]?.(found);
          const xml = printMessage(message).replaceAll('ampersand', ' & ');
          repaired += await expectRepaired(xml);
        }
      }
    }
    expect(repaired).toBeGreaterThan(100);
  });
});

const leaves =
  `GrpHdr/MsgId GrpHdr/InitgPty/Nm PmtInf/PmtMtd PmtInf/PmtTpInf/SvcLvl/Cd PmtInf/Dbtr/Nm PmtInf/DbtrAcct/Id/IBAN
  PmtInf/Cdtr/Nm PmtInf/CdtrAcct/Id/IBAN PmtInf/ChrgBr PmtInf/CdtTrfTxInf/Cdtr/Nm PmtInf/CdtTrfTxInf/CdtrAcct/Id/IBAN
  PmtInf/CdtTrfTxInf/RmtInf/Ustrd PmtInf/CdtTrfTxInf/Amt/InstdAmt PmtInf/DrctDbtTxInf/Dbtr/Nm PmtInf/DrctDbtTxInf/DbtrAcct/Id/IBAN
  PmtInf/DrctDbtTxInf/RmtInf/Ustrd PmtInf/DrctDbtTxInf/InstdAmt`.split(/\s+/);

/** @returns how many changes there are */
async function expectRepaired(xml: string): Promise<number> {
  const { text, changes } = await fix(xml).catch(() => ({ text: xml, changes: [] }));
  // The same message has the same findings.
  if (text === xml && changes.length === 0) return 0;
  const keys = async (message: string) => {
    const { findings } = await findAllIn(message);
    return findings.map(({ code, place }) => `${code} ${place.xpath}`);
  };
  const after = await keys(text);
  const listed = changes.map(({ code, xpath }) => `${code} ${xpath}`);
  expect(after.filter((key) => listed.includes(key))).toEqual([]);
  const before = new Set(await keys(xml));
  // An unescaped & ends the check of the message, but not of its copy.
  if (![...before].some((key) => key.startsWith('NOT_'))) expect(after.filter((key) => !before.has(key))).toEqual([]);
  const values = (message: string) => message.match(/<InstdAmt[^>]*>[^<]*/g);
  expect(values(text)?.map((each) => each.replace('&amp;', '&'))).toEqual(values(xml));
  expect((await fix(text).catch(() => null))?.changes ?? []).toEqual([]);
  return changes.length;
}

it('is read in bounded memory', async () => {
  const [, start = '', transaction = '', end = ''] =
    /^(.*?)( *<CdtTrfTxInf>.*?<\/CdtTrfTxInf>\n)(.*)/s.exec(right.replace('Creditor 1', 'Müller & Söhne')) ?? [];
  let most = 0;
  let read = 0;
  async function* open() {
    yield Buffer.from(start);
    const chunk = Buffer.from(transaction.repeat(100));
    for (let index = 0; index < 80; index += 1) {
      yield chunk;
      if (index % 20 === 0) most = Math.max(most, memoryInUse());
    }
    yield Buffer.from(end);
  }
  const before = memoryInUse();
  let changes = 0;
  const onChange = () => {
    changes += 1;
  };
  for await (const part of fixMessage(open, { profile: 'auto', onChange })) read += part.length;
  // The headers agree that there are fewer transactions, so they are not repaired.
  expect(changes).toBe(8_000);
  expect(read).toBeGreaterThan(4_000_000);
  expect(most - before).toBeLessThan(8_000_000);
});
