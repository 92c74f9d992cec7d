import fc from 'fast-check';
import iconv from 'iconv-lite';
import { expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { replay } from '../../../src/base/input-file.ts';
import type { Change } from '../../../src/check/finding.ts';
import { fixMessage } from '../../../src/check/pain/fix-message.ts';
import { findVersion } from '../../../src/check/pain/message-versions.ts';
import { renovateMessage } from '../../../src/check/pain/renovate-message.ts';
import {
  createSample,
  type Node,
  parseXml,
  printSchema,
  printXml,
  readSchema,
} from '../../support/check/mutate-xml.ts';
import { findAllIn, rightMessage } from '../../support/check/pain-messages.ts';

// cspell:disable

async function renovate(message: string | Buffer, chunkSize = 50_000) {
  const bytes = Buffer.from(message);
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunkSize) }, (_, index) =>
    bytes.subarray(index * chunkSize, (index + 1) * chunkSize),
  );
  const changes: Change[] = [];
  const parts: Buffer[] = [];
  const onChange = (change: Change) => void changes.push(change);
  for await (const part of renovateMessage(replay(chunks), { onChange })) parts.push(part);
  return { bytes: Buffer.concat(parts), text: Buffer.concat(parts).toString(), changes };
}

const iso = 'urn:iso:std:iso:20022:tech:xsd:';
const old = rightMessage('pain.001.001.03');
const swissNamespace = 'http://www.six-interbank-clearing.com/de/pain.001.001.03.ch.02.xsd';

/** What an XML Schema processor says of messages. */
async function findInvalid(name: string, contents: readonly string[]): Promise<readonly string[]> {
  const { message, year } = findVersion(iso + name);
  const schema = printSchema(readSchema(message, year, 'iso'), iso + name);
  const xml = contents.map((each, index) => ({ fileName: `${index}.xml`, contents: each }));
  return (await validateXML({ xml, schema, maxMemoryPages: 4096 })).errors.map((error) => error.message);
}

it.each([
  ['pain.001.001.03', old, rightMessage('pain.001.001.09')],
  ['pain.008.001.02', rightMessage('pain.008.001.02'), rightMessage('pain.008.001.08')],
  ['pain.001.001.03.ch.02', old.replace(`${iso}pain.001.001.03`, swissNamespace), rightMessage('pain.001.001.09')],
])('a right %s becomes a right message of 2019, in chunks of any size', async (_, before, after) => {
  for (const chunkSize of [50_000, 1, 7]) expect((await renovate(before, chunkSize)).text).toBe(after);
});

it('lists each change with its place in the message', async () => {
  const { changes } = await renovate(old);
  const message = '/Document/CstmrCdtTrfInitn';
  expect(changes.slice(0, 3)).toEqual([
    {
      ...{ code: 'VERSION_ENDED', line: 2, xpath: '/Document' },
      ...{ before: `${iso}pain.001.001.03`, after: `${iso}pain.001.001.09` },
    },
    {
      ...{ code: 'ELEMENT_OF_OTHER_VERSION', line: 16, xpath: `${message}/PmtInf[1]/ReqdExctnDt` },
      ...{ before: 'ReqdExctnDt', after: 'ReqdExctnDt/Dt' },
    },
    expect.objectContaining({ xpath: `${message}/PmtInf[1]/DbtrAgt/FinInstnId/BIC`, before: 'BIC', after: 'BICFI' }),
  ]);
});

it.each([
  ['pain.001.001.03', 'pain.001.001.09'],
  ['pain.001.001.08', 'pain.001.001.09'],
  ['pain.008.001.02', 'pain.008.001.08'],
])('a %s with each type of element is valid as %s', async (from, to) => {
  const { message, year } = findVersion(iso + from);
  const sample = createSample(readSchema(message, year, 'iso'), iso + from);
  // Of another contact than by telephone or mail, 2009 does not say what it is.
  const removeOther = (node: Node): Node => ({
    ...node,
    children: node.children
      .filter(({ name }) => node.name !== 'CtctDtls' || name !== 'Othr')
      .map((child) => removeOther(child)),
  });
  const before = printXml(removeOther(sample));
  expect(await findInvalid(to, [before.replace(iso + from, iso + to)])).not.toEqual([]);
  const { text } = await renovate(before);
  expect(await findInvalid(to, [text])).toEqual([]);
});

it('changes the places of schemas and prefixes, and no comment or white space', async () => {
  const before = old
    .replace(
      `xmlns="${iso}pain.001.001.03"`,
      `xmlns:p="${iso}pain.001.001.03" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"\n xsi:schemaLocation="${iso}pain.001.001.03 pain.001.001.03.xsd"`,
    )
    .replaceAll(/<(\/?)(?=[A-Z])/g, '<$1p:')
    .replace('<p:BIC>', '<!-- <p:BIC> --><p:BIC >');
  const { text } = await renovate(before);
  const after = before
    .replaceAll('pain.001.001.03', 'pain.001.001.09')
    .replaceAll(/(?<!-- )<(\/?)p:BIC/g, '<$1p:BICFI')
    .replaceAll(/(<p:ReqdExctnDt>)(.*)(<\/p:ReqdExctnDt>)/g, '$1<p:Dt>$2</p:Dt>$3');
  expect(text).toBe(after);
});

it('changes each declaration of the namespace, and declares no other', async () => {
  const namespace = `${iso}pain.001.001.03`;
  const before = old
    .replace('<CstmrCdtTrfInitn>', `<CstmrCdtTrfInitn xmlns='${namespace}' >`)
    .replace('<BIC>', `<q:BIC xmlns:q="${namespace.replace('03', '0&#51;')}">`)
    .replace('</BIC>', '</q:BIC>')
    .replace(/(?<=<PstlAdr>)<StrtNm>.*?<Ctry>DE/, `<q:Ctry xmlns:q="${namespace}">DE`)
    .replace('</Ctry>', '</q:Ctry><AdrLine>60311 Frankfurt</AdrLine>');
  const { text } = await renovate(before);
  expect(text).toContain('<q:BICFI xmlns:q="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">COBADEFFXXX</q:BICFI>');
  expect(text).toContain('<PstlAdr><PstCd>60311</PstCd><TwnNm>Frankfurt</TwnNm><q:Ctry');
  expect(await findInvalid('pain.001.001.09', [text])).toEqual([]);
});

it('refuses a message of 2019', async () => {
  await expect(renovate(rightMessage('pain.001.001.09'))).rejects.toThrow(
    'the message is pain.001.001.09: --renovate is for versions before 2019, and --fix also structures addresses of later ones',
  );
});

const withAddress = (content: string) => old.replace(/(?<=<Cdtr>.*?<PstlAdr>).*?(?=<\/PstlAdr>)/s, content);
const lines = (country: string, ...texts: readonly string[]) =>
  `${country && `<Ctry>${country}</Ctry>`}${texts.map((text) => `<AdrLine>${text}</AdrLine>`).join('')}`;

it.each<[country: string, texts: readonly string[], after: string]>([
  [
    'DE',
    ['Hauptstr. 12 a', '60311 Frankfurt am Main'],
    '<StrtNm>Hauptstr.</StrtNm><BldgNb>12 a</BldgNb><PstCd>60311</PstCd><TwnNm>Frankfurt am Main</TwnNm><Ctry>DE</Ctry>',
  ],
  [
    'CH',
    ['CH-8005 Zürich', 'A &amp; B-Weg 1'],
    '<PstCd>8005</PstCd><TwnNm>Zürich</TwnNm><Ctry>CH</Ctry><AdrLine>A &amp; B-Weg 1</AdrLine>',
  ],
  [
    'NL',
    ['Damrak 1', '1012 AB Amsterdam'],
    '<StrtNm>Damrak</StrtNm><BldgNb>1</BldgNb><PstCd>1012 AB</PstCd><TwnNm>Amsterdam</TwnNm><Ctry>NL</Ctry>',
  ],
  [
    'FR',
    ['3, rue de la Plume', '75002 PARIS'],
    '<PstCd>75002</PstCd><TwnNm>PARIS</TwnNm><Ctry>FR</Ctry><AdrLine>3, rue de la Plume</AdrLine>',
  ],
  [
    'DE',
    ['Postfach 12', '60311 Frankfurt'],
    '<PstCd>60311</PstCd><TwnNm>Frankfurt</TwnNm><Ctry>DE</Ctry><AdrLine>Postfach 12</AdrLine>',
  ],
  [
    'DE',
    ['c/o Meier', 'Weg 1', '60311 Frankfurt'],
    '<PstCd>60311</PstCd><TwnNm>Frankfurt</TwnNm><Ctry>DE</Ctry><AdrLine>c/o Meier</AdrLine><AdrLine>Weg 1</AdrLine>',
  ],
])('the lines of an address of %s that can be read in one way are structured: %j', async (country, texts, after) => {
  const { text, changes } = await renovate(withAddress(lines(country, ...texts)));
  expect(text).toContain(`<PstlAdr>${after}</PstlAdr>`);
  const change = changes.find(({ code }) => code === 'ADDRESS_WITHOUT_TOWN');
  expect(change?.before).toBe(texts.join(', ').replace('&amp;', '&'));
  // The change says which lines remain.
  const kept = [...after.matchAll(/<AdrLine>(.*?)<\/AdrLine>/g)].map(([, line]) => `AdrLine ${line} (kept)`);
  expect(change?.after.match(/AdrLine .*?\(kept\)/g) ?? []).toEqual(kept.map((line) => line.replace('&amp;', '&')));
  expect(await findInvalid('pain.001.001.09', [text])).toEqual([]);
});

it.each<[why: string, country: string, texts: readonly string[], code: string]>([
  ['no country', '', ['Hauptstr. 12', '60311 Frankfurt'], 'ADDRESS_UNSTRUCTURED'],
  ['no postcode', 'DE', ['Hauptstr. 12', 'Frankfurt'], 'ADDRESS_WITHOUT_TOWN'],
  ['two postcodes', 'DE', ['60311 Frankfurt', '10115 Berlin'], 'ADDRESS_WITHOUT_TOWN'],
  ['another number of five digits', 'DE', ['Postfach 12345', '60311 Frankfurt'], 'ADDRESS_WITHOUT_TOWN'],
  ['the postcode of another country', 'AT', ['60311 Frankfurt'], 'ADDRESS_WITHOUT_TOWN'],
  ['a country behind the town', 'DE', ['60311 Frankfurt Deutschland'], 'ADDRESS_WITHOUT_TOWN'],
  ['a province behind the town', 'IT', ['20121 Milano MI'], 'ADDRESS_WITHOUT_TOWN'],
  ['a country of other addresses', 'GB', ['1 High Street', 'London SW1A 1AA'], 'ADDRESS_WITHOUT_TOWN'],
  ['too many lines', 'DE', ['A', 'B', 'C', '60311 Frankfurt'], 'ADDRESS_WITHOUT_TOWN'],
  ['a comment in a line', 'DE', ['60311 <!-- x -->Frankfurt'], 'ADDRESS_WITHOUT_TOWN'],
])('an address with %s is unchanged, and its check says what is missing', async (_, country, texts, code) => {
  const before = withAddress(lines(country, ...texts));
  const { text, changes } = await renovate(before);
  expect(text).toContain(lines(country, ...texts));
  expect(changes.map((change) => change.code)).not.toContain('ADDRESS_WITHOUT_TOWN');
  const { findings } = await findAllIn(text);
  expect(findings.filter((each) => each.code.startsWith('ADDRESS')).map((each) => each.code)).toContain(code);
});

/** What must be equal before and after: texts by the names of their elements, in the order of the message, and the words of each address. */
function listFacts(xml: string): string[] {
  const names = /^(?:Nm|IBAN|InstdAmt|NbOfTxs|CtrlSum|MsgId|PmtInfId|InstrId|EndToEndId|Ustrd|Ref|MndtId|Id|Cd|Prtry)$/;
  const wordsOf = ({ children, text }: Node): string[] => [
    ...(text ?? '').split(/\s+/).map((word) => word.replace(/^[A-Z]{2}-(?=\d)/, '')),
    ...children.flatMap(wordsOf),
  ];
  const visit = (node: Node): string[] => {
    const { attributes, children, text } = node;
    const name = node.name.replace(/^.*:/, '');
    if (name === 'PstlAdr') return wordsOf(node).filter(Boolean).sort();
    return [
      ...(names.test(name) && text !== null ? [`${name} ${attributes.Ccy ?? ''} ${text}`] : []),
      ...children.flatMap(visit),
    ];
  };
  return visit(parseXml(xml));
}

async function fix(message: Buffer, chunkSize: number) {
  const open = () =>
    replay(
      Array.from({ length: Math.ceil(message.length / chunkSize) }, (_, index) =>
        message.subarray(index * chunkSize, (index + 1) * chunkSize),
      ),
    );
  const parts: Buffer[] = [];
  const options = { profile: 'auto', today: '2026-11-26', onChange: () => {} } as const;
  for await (const part of fixMessage(open, options)) parts.push(part);
  return { bytes: Buffer.concat(parts) };
}

/** How the same message may be written. */
const notations: Readonly<Record<string, (xml: string) => string>> = {
  plain: (xml) => xml,
  'comments between elements': (xml) => xml.replaceAll(/<(?:AdrLine|Ctry|Nm)>/g, '<!-- <AdrLine> & --><?a & ?>$&'),
  'comments in lines': (xml) => xml.replaceAll(/<AdrLine>[^<&]/g, '$&<!-- & -->'),
  'CDATA sections': (xml) =>
    xml.replaceAll(/(?<=<AdrLine>)[^<]*/g, (text) => `<![CDATA[${parseXml(`<a>${text}</a>`).text}]]>`),
  'a prefix': (xml) => xml.replace('xmlns=', 'xmlns:p=').replaceAll(/<(\/?)(?=[A-Z])/g, '<$1p:'),
  'its own prefix': (xml) =>
    xml.replaceAll(/<Ctry>(..)<\/Ctry>/g, `<q:Ctry xmlns:q="${/xmlns="(.*?)"/.exec(xml)?.[1]}">$1</q:Ctry>`),
};

it.each([
  ['--renovate', old, renovate],
  ['--fix', rightMessage('pain.001.001.09'), fix],
] as const)(
  'amounts, IBANs, names, references and the words of addresses are equal before and after %s, and the copy is valid',
  async (_, right, copy) => {
    // Other characters of names are converted by --fix.
    const word = fc.stringMatching(
      right === old ? /^[A-Za-zÀ-ž0-9 &<>.,/'()+-]{1,30}$/ : /^[A-Za-z0-9 .,'()+-]{1,30}$/,
    );
    const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
    const address = fc.record({
      country: fc.constantFrom('', 'DE', 'CH', 'FR', 'NL', 'PL', 'US'),
      texts: fc.array(
        fc.oneof(word, fc.constantFrom('60311 Frankfurt', 'Weg 1', '8005 Zug', '00-950 Warszawa', '1012AB Ede')),
        { minLength: 1, maxLength: 5 },
      ),
    });
    const payment = fc.record({ name: word, reference: word, amount: fc.integer({ min: 1, max: 10 ** 9 }), address });
    const message = fc.array(payment, { minLength: 3, maxLength: 3 }).map((payments) => {
      let index = 0;
      return right.replaceAll(/<Amt>.*?<\/CdtTrfTxInf>/gs, (text) => {
        const { name, reference, amount, address } = payments[index] as (typeof payments)[number];
        index += 1;
        return text
          .replace(/>[\d.]+<\/InstdAmt>/, `>${(amount / 100).toFixed(2)}</InstdAmt>`)
          .replace(/<Nm>[^<]*/, () => `<Nm>${escaped(name)}`)
          .replace(/<Ustrd>[^<]*/, () => `<Ustrd>${escaped(reference)}`)
          .replace(/(?<=<PstlAdr>).*?(?=<\/PstlAdr>)/s, () => lines(address.country, ...address.texts.map(escaped)));
      });
    });
    const notation = fc.record({
      name: fc.constantFrom(...Object.keys(notations)),
      encoding: fc.constantFrom('utf-8', 'utf-16le', 'utf-16be'),
      chunkSize: fc.integer({ min: 20, max: 5_000 }),
    });
    const copies: string[] = [];
    await fc.assert(
      fc.asyncProperty(message, notation, async (plain, { name, encoding, chunkSize }) => {
        const before = notations[name]?.(plain.replace('UTF-8', encoding.slice(0, 6))) ?? '';
        const { bytes } = await copy(iconv.encode(`\uFEFF${before}`, encoding), chunkSize);
        const text = iconv.decode(bytes, encoding, { stripBOM: false });
        expect(listFacts(text)).toEqual(listFacts(before));
        expect(text.match(/<!--.*?-->|^\uFEFF/g)).toEqual(`\uFEFF${before}`.match(/<!--.*?-->|^\uFEFF/g));
        copies.push(text.slice(1).replace(encoding.slice(0, 6), 'UTF-8'));
      }),
      { numRuns: 100 },
    );
    expect(copies.some((text) => text.includes('<TwnNm>Frankfurt</TwnNm><Ctry>DE'))).toBe(true);
    expect(await findInvalid('pain.001.001.09', copies)).toEqual([]);
  },
);
