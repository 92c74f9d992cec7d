import type { Answer } from '../../../src/check/answers/answers.ts';
import type { BankFacts } from '../../../src/check/bank-facts.ts';
import type { MessageFinding } from '../../../src/check/finding.ts';
import { checkMessage, type MessageSummary } from '../../../src/check/pain/check-message.ts';
import type { Profile } from '../../../src/check/pain/profiles.ts';
import type { StatusReport } from '../../../src/check/pain/status-report.ts';

export type Version = 'pain.001.001.03' | 'pain.001.001.09' | 'pain.008.001.02' | 'pain.008.001.08';

export const versions: readonly Version[] = [
  'pain.001.001.03',
  'pain.001.001.09',
  'pain.008.001.02',
  'pain.008.001.08',
];

/**
 * A message of two payments without a finding on 26 November 2026, but that a version of 2009 has ended. The first payment has two transactions, the second
 * one.
 */
export function rightMessage(version: Version): string {
  const isDirectDebit = version.startsWith('pain.008');
  const name = isDirectDebit ? 'CstmrDrctDbtInitn' : 'CstmrCdtTrfInitn';
  const payments = isDirectDebit ? directDebits(version) : creditTransfers(version);
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:${version}">
  <${name}>
    <GrpHdr>
      <MsgId>MESSAGE-1</MsgId>
      <CreDtTm>2026-11-26T09:30:00</CreDtTm>
      <NbOfTxs>3</NbOfTxs>
      <CtrlSum>1112.35</CtrlSum>
      <InitgPty><Nm>Ink and Paper Ltd</Nm></InitgPty>
    </GrpHdr>
${payments}
  </${name}>
</Document>
`;
}

function creditTransfers(version: Version): string {
  const date = version === 'pain.001.001.09' ? '<Dt>2026-11-30</Dt>' : '2026-11-30';
  const bic = bicElement(version);
  const payment = (number: number, totals: string, transactions: string) => `    <PmtInf>
      <PmtInfId>PAYMENT-${number}</PmtInfId>
      <PmtMtd>TRF</PmtMtd>
      ${totals}
      <PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf>
      <ReqdExctnDt>${date}</ReqdExctnDt>
      <Dbtr>
        <Nm>Ink and Paper Ltd</Nm>
        <PstlAdr><StrtNm>Main Street</StrtNm><TwnNm>Frankfurt</TwnNm><Ctry>DE</Ctry></PstlAdr>
      </Dbtr>
      <DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct>
      <DbtrAgt><FinInstnId><${bic}>COBADEFFXXX</${bic}></FinInstnId></DbtrAgt>
      <ChrgBr>SLEV</ChrgBr>
${transactions}
    </PmtInf>`;
  const transaction = (number: number, amount: string, iban: string) => `      <CdtTrfTxInf>
        <PmtId><InstrId>INSTRUCTION-${number}</InstrId><EndToEndId>INVOICE-${number}</EndToEndId></PmtId>
        <Amt><InstdAmt Ccy="EUR">${amount}</InstdAmt></Amt>
        <CdtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></CdtrAgt>
        <Cdtr>
          <Nm>Creditor ${iban.startsWith('FR') ? 1 : 2}</Nm>
          <PstlAdr><StrtNm>3, rue de la Plume</StrtNm><TwnNm>Paris</TwnNm><Ctry>FR</Ctry></PstlAdr>
        </Cdtr>
        <CdtrAcct><Id><IBAN>${iban}</IBAN></Id></CdtrAcct>
        <RmtInf><Ustrd>Invoice ${number}, nibs and ink</Ustrd></RmtInf>
      </CdtTrfTxInf>`;
  return [
    payment(
      1,
      '<NbOfTxs>2</NbOfTxs><CtrlSum>112.35</CtrlSum>',
      `${transaction(1, '12.35', 'FR1420041010050500013M02606')}\n${transaction(2, '100', 'NL91ABNA0417164300')}`,
    ),
    payment(2, '<NbOfTxs>1</NbOfTxs><CtrlSum>1000</CtrlSum>', transaction(3, '1000.00', 'FR1420041010050500013M02606')),
  ].join('\n');
}

function directDebits(version: Version): string {
  const bic = bicElement(version);
  const payment = (number: number, totals: string, transactions: string) => `    <PmtInf>
      <PmtInfId>PAYMENT-${number}</PmtInfId>
      <PmtMtd>DD</PmtMtd>
      ${totals}
      <PmtTpInf>
        <SvcLvl><Cd>SEPA</Cd></SvcLvl>
        <LclInstrm><Cd>CORE</Cd></LclInstrm>
        <SeqTp>RCUR</SeqTp>
      </PmtTpInf>
      <ReqdColltnDt>2026-11-30</ReqdColltnDt>
      <Cdtr><Nm>Ink and Paper Ltd</Nm></Cdtr>
      <CdtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></CdtrAcct>
      <CdtrAgt><FinInstnId><${bic}>COBADEFFXXX</${bic}></FinInstnId></CdtrAgt>
      <ChrgBr>SLEV</ChrgBr>
      <CdtrSchmeId>
        <Id><PrvtId><Othr><Id>DE98ZZZ09999999999</Id><SchmeNm><Prtry>SEPA</Prtry></SchmeNm></Othr></PrvtId></Id>
      </CdtrSchmeId>
${transactions}
    </PmtInf>`;
  const transaction = (number: number, amount: string, iban: string) => `      <DrctDbtTxInf>
        <PmtId><EndToEndId>INVOICE-${number}</EndToEndId></PmtId>
        <InstdAmt Ccy="EUR">${amount}</InstdAmt>
        <DrctDbtTx><MndtRltdInf><MndtId>MANDATE-${number}</MndtId><DtOfSgntr>2024-02-29</DtOfSgntr></MndtRltdInf></DrctDbtTx>
        <DbtrAgt><FinInstnId><Othr><Id>NOTPROVIDED</Id></Othr></FinInstnId></DbtrAgt>
        <Dbtr><Nm>Debtor ${number}</Nm></Dbtr>
        <DbtrAcct><Id><IBAN>${iban}</IBAN></Id></DbtrAcct>
        <RmtInf><Ustrd>Invoice ${number}, nibs and ink</Ustrd></RmtInf>
      </DrctDbtTxInf>`;
  return [
    payment(
      1,
      '<NbOfTxs>2</NbOfTxs><CtrlSum>112.35</CtrlSum>',
      `${transaction(1, '12.35', 'FR1420041010050500013M02606')}\n${transaction(2, '100', 'NL91ABNA0417164300')}`,
    ),
    payment(2, '<NbOfTxs>1</NbOfTxs><CtrlSum>1000</CtrlSum>', transaction(3, '1000.00', 'FR1420041010050500013M02606')),
  ].join('\n');
}

function bicElement(version: Version): string {
  return ['pain.001.001.03', 'pain.008.001.02'].includes(version) ? 'BIC' : 'BICFI';
}

interface Options {
  /** Without it, all IBANs are valid. */
  answer?: (iban: string) => Answer | Promise<Answer>;
  /** Without them, no bank is known. */
  banks?: Partial<BankFacts>;
  messageIds?: Set<string>;
  profile?: Profile;
  report?: StatusReport;
  /** Instead of 26 November 2026. */
  today?: string;
  maxBytes?: number;
}

export const validAnswer = { kind: 'answered', valid: true, bank: null, bic: null } as const satisfies Answer;

/** Starts the check of a message on 26 November 2026. */
export function tCheck(message: string | Buffer | AsyncIterable<Buffer>, options: Options = {}) {
  const { answer = () => validAnswer, banks, messageIds = new Set(), ...others } = options;
  const chunks = typeof message === 'object' && Symbol.asyncIterator in message ? message : inOneChunk(message);
  return checkMessage(chunks, {
    answers: { find: answer },
    banks: { has: () => false, accountCheckMethod: () => null, bics: () => [], ...banks },
    messageIds,
    today: '2026-11-26',
    ...others,
  });
}

/** All findings of a message. */
export async function findAllIn(
  message: string | Buffer | AsyncIterable<Buffer>,
  options: Options = {},
): Promise<{ findings: MessageFinding[]; summary: MessageSummary }> {
  const check = tCheck(message, options);
  const findings: MessageFinding[] = [];
  // What they are about is for terminals.
  for await (const { about: _, ...finding } of check) findings.push(finding);
  return { findings, summary: check.summary() };
}

/** Those that have nothing to do with the end of a version. */
export function withoutVersionEnd(findings: readonly MessageFinding[]): MessageFinding[] {
  return findings.filter(({ code }) => !code.startsWith('VERSION_END'));
}

async function* inOneChunk(message: string | Buffer): AsyncGenerator<Buffer> {
  yield Buffer.from(message);
}

/** A day that banks read as today, so that it is neither past nor far. */
export const soon = '1999-01-01';

/**
 * The line of the element at an XPath, such as /Document/PmtInf[2]/NbOfTxs, or of the innermost of its ancestors that is there.
 * Finds the n-th tag of each name within its parent, which is enough where no element has another one of its name in it.
 */
export function lineOf(message: string, xpath: string): number {
  let [start, end] = [0, message.length];
  for (const [, name = '', index = '1'] of xpath.matchAll(/\/(\w+)(?:\[(\d+)\])?/g)) {
    const tags = [...message.slice(start, end).matchAll(new RegExp(`<${name}[ >/]`, 'g'))];
    const tag = tags[Number(index) - 1];
    if (tag === undefined) break;
    start += tag.index + 1;
    end = message.indexOf(`</${name}>`, start);
  }
  return message.slice(0, start).split('\n').length;
}
