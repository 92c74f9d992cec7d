import type { Random } from '../e2e/random.ts';

/*
 * Files for POST /check that may take long or have a long answer: tables of titles, columns, rows, quotes and separators, and payment
 * messages. A file is changed at random, so that a search can climb from the worst one so far.
 */

export interface CheckFile {
  kind: 'table' | 'message';
  accept: 'application/x-ndjson' | 'text/csv';
  separator: number;
  lineEnd: number;
  titles: { text: number; count: number };
  parts: readonly Part[];
}

/** Cells or elements that are repeated, in rows or transactions that are repeated. */
interface Part {
  text: number;
  /** In a row or transaction. */
  across: number;
  /** Rows or transactions. */
  down: number;
}

const separators = [',', ';', '\t', '|'];
const lineEnds = ['\n', '\r\n', '\r'];

/** Cells and titles. The index makes them different. */
const cells: readonly ((index: number) => string)[] = [
  () => '',
  () => 'x',
  () => ' ',
  () => 'DE89370400440532013000',
  (index) => `DE8937040044053201${String(index % 10_000).padStart(4, '0')}`,
  (index) => `GB29NWBK6016133192681${index % 10}`,
  () => 'COBADEFFXXX',
  () => 'COBADEFFXX',
  (index) => `Payee ${index}`,
  () => 'Anna-Maria of Ink & Paper Ltd',
  () => '""',
  () => '"a""b"',
  () => '"a\nb"',
  () => '"x"y',
  () => '=1+1',
  () => `-${'1'.repeat(300)}x`,
  () => '＝'.repeat(40),
  () => `IBAN ${'x'.repeat(90)}`,
  () => `Konto ${'\u0001'.repeat(500)}`,
  () => 'D E 8 9 3 7 0 4 0 0 4 4 0 5 3 2 0 1 3 0 0 1',
  () => 'ß'.repeat(3_000),
  () => `"${'a\n'.repeat(2_000)}"`,
  () => 'A a '.repeat(5_000),
];

/** Elements of a transaction. */
const elements: readonly ((index: number) => string)[] = [
  () => '',
  () => '<A/>',
  () => '<x:a xmlns:x="urn:y"/>',
  (index) => `<x:a${index} xmlns:x="urn:${index}"/>`,
  () => '<A>x</A>',
  () => '<Nm/>',
  () => '<B><B><B><B><Nm/></B></B></B></B>',
  (index) => `<PmtId><EndToEndId>${index}//</EndToEndId></PmtId>`,
  (index) => `<CdtrAcct><Id><IBAN>DE8937040044053201${String(index % 10_000).padStart(4, '0')}</IBAN></Id></CdtrAcct>`,
  () => '<CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></CdtrAcct>',
  () => '<CdtrAgt><FinInstnId><BICFI>COBADEFFXXX</BICFI></FinInstnId></CdtrAgt>',
  () => '<Amt><InstdAmt Ccy="eur">1,5</InstdAmt></Amt>',
  () => `<Nm>${'ß'.repeat(60)}</Nm>`,
  () => `<Nm>${'ß'.repeat(5_000)}</Nm>`,
  () => '<PstlAdr><AdrLine>x</AdrLine></PstlAdr>',
  () => `<Cd>${'/'.repeat(500)}</Cd>`,
  () => '<!-- -->',
  () => '<x:a xmlns:x="urn:y"/>',
  () => '<x:a xmlns:x="urn:y"><x:b/></x:a>',
  () => '&amp;&#955;',
  () => `<A ${Array.from({ length: 30 }, (_, index) => `a${index}=""`).join(' ')}/>`,
];

export const firstFile: CheckFile = {
  kind: 'table',
  accept: 'application/x-ndjson',
  separator: 0,
  lineEnd: 0,
  titles: { text: 17, count: 4 },
  parts: [{ text: 3, across: 4, down: 64 }],
};

/** The type and the body of a request: each part as often as fits. */
export function writeFile(file: CheckFile, maxLength: number): { type: string; body: string } {
  const { kind, parts, titles } = file;
  const texts = kind === 'table' ? cells : elements;
  const lengthOf = (text: number) => (texts[text]?.(0) ?? '').length + 1;
  const fitting = parts.map((part) => {
    const across = Math.min(part.across, Math.ceil(maxPart / lengthOf(part.text)));
    // A transaction has tags.
    const rowLength = across * lengthOf(part.text) + (kind === 'table' ? 1 : 28);
    return { ...part, across, down: Math.min(part.down, Math.ceil(maxLength / parts.length / rowLength)) };
  });
  const count = Math.min(titles.count, Math.ceil(maxPart / lengthOf(titles.text)));
  const body =
    kind === 'table' ? writeTable({ ...file, titles: { ...titles, count }, parts: fitting }) : writeMessage(fitting);
  return { type: kind === 'table' ? 'text/csv' : 'application/xml', body };
}

/** Somewhat more than a row or a transaction may have. */
const maxPart = 110_000;

function writeTable({ separator, lineEnd, titles, parts }: CheckFile): string {
  const between = separators[separator] ?? ',';
  const end = lineEnds[lineEnd] ?? '\n';
  const row = ({ text, across }: Pick<Part, 'text' | 'across'>, first: number) =>
    Array.from({ length: across }, (_, index) => cells[text]?.(first + index) ?? '').join(between);
  const data = parts.flatMap((part) => Array.from({ length: part.down }, (_, index) => row(part, index * part.across)));
  const iban = `DE89370400440532013000${between}COBADEFFXXX`;
  return [row({ ...titles, across: titles.count }, 0), iban, ...data].join(end);
}

function writeMessage(parts: readonly Part[]): string {
  const transactions = parts.flatMap(({ text, across, down }) =>
    Array.from({ length: down }, (_, row) => {
      const inside = Array.from({ length: across }, (_, index) => elements[text]?.(row * across + index) ?? '');
      return `<CdtTrfTxInf>${inside.join('')}</CdtTrfTxInf>`;
    }),
  );
  const namespace = 'urn:iso:std:iso:20022:tech:xsd:pain.001.001.09';
  const start = `<Document xmlns="${namespace}"><CstmrCdtTrfInitn><GrpHdr/><PmtInf>`;
  return `${start}${transactions.join('')}</PmtInf></CstmrCdtTrfInitn></Document>`;
}

export function createFile(random: Random): CheckFile {
  const kind = random(2) === 0 ? 'message' : 'table';
  return {
    kind,
    accept: random(1) === 0 ? 'application/x-ndjson' : 'text/csv',
    separator: random(separators.length - 1),
    lineEnd: random(lineEnds.length - 1),
    titles: { text: random(cells.length - 1), count: 2 ** random(10) },
    parts: [createPart(random), createPart(random)],
  };
}

/** Indexes beyond the end have an empty text, as index 0. */
function createPart(random: Random): Part {
  return { text: random(cells.length - 1), across: 2 ** random(10), down: 2 ** random(16) };
}

export function changeFile(file: CheckFile, random: Random): CheckFile {
  const { parts, titles } = file;
  const index = random(parts.length - 1);
  const part = parts[index] ?? createPart(random);
  const withPart = (changed: Partial<Part>) => ({ ...file, parts: parts.with(index, { ...part, ...changed }) });
  switch (random(9)) {
    case 0:
      return { ...file, parts: [...parts, createPart(random)] };
    case 1:
      return parts.length > 1 ? { ...file, parts: parts.toSpliced(index, 1) } : createFile(random);
    case 2:
      return withPart({ text: random(cells.length - 1) });
    case 3:
      return withPart({ across: Math.ceil(part.across / 2) });
    case 4:
      return withPart({ across: Math.ceil(part.across * 1.5) });
    case 5:
      return withPart({ down: Math.ceil(part.down * 1.5) });
    case 6:
      return { ...file, titles: { ...titles, text: random(cells.length - 1) } };
    case 7:
      return { ...file, titles: { ...titles, count: Math.min(2 * titles.count, 1_001) } };
    case 8:
      return { ...file, accept: file.accept === 'text/csv' ? 'application/x-ndjson' : 'text/csv' };
    default:
      return { ...file, separator: random(separators.length - 1), lineEnd: random(lineEnds.length - 1) };
  }
}

/** In one line, without the texts themselves. */
export function describeFile({ kind, accept, titles, parts }: CheckFile): string {
  const texts = kind === 'table' ? cells : elements;
  const show = (text: number) => JSON.stringify((texts[text]?.(0) ?? '').slice(0, 30));
  const repeated = parts.map(({ text, across, down }) => `${down} x ${across} ${show(text)}`);
  const head =
    kind === 'table' ? `${titles.count} titles ${JSON.stringify(cells[titles.text]?.(0).slice(0, 30))}, ` : '';
  return `${kind} as ${accept}: ${head}${repeated.join(', ')}`;
}
