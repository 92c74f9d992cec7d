import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readRegisterFile } from '../../src/banks/import/files/read-register-file.ts';
import { replay } from '../../src/base/input-file.ts';
import { judgeRow } from '../../src/check/judge-row.ts';
import type { XmlElement } from '../../src/check/pain/elements.ts';
import { MessageFindings } from '../../src/check/pain/findings.ts';
import { readStatusReport } from '../../src/check/pain/status-report.ts';
import { noColumns } from '../support/check/check.ts';
import { validAnswer } from '../support/check/pain-messages.ts';
import { tFolder } from '../support/gateway/stores/folder.ts';

/* Four times as much of anything takes four times as long, not sixteen times: in CPU time, the least of several runs. */

const bytes = (...parts: readonly string[]) => replay(parts.map((part) => Buffer.from(part)));
const noAnswers = { find: () => validAnswer };
const noBanks = { has: () => false, accountCheckMethod: () => null, bics: () => [] };

function findMany(count: number): void {
  const findings = new MessageFindings(noAnswers);
  const element = createElement('PmtInf', '');
  for (let n = 0; n < count; n += 1) findings.add('ELEMENT_NOT_EXPECTED', element, 'It must not be there.');
  findings.addProblem({ code: 'TEXT_NOT_EXPECTED', element, message: 'It has a text.', isGeneric: true });
  findings.endPart();
}

function judgeWide(width: number, text: (column: number) => string): void {
  const cells = Array.from({ length: width }, (_, column) => text(column));
  const half = width / 2;
  const ibans = cells.slice(0, half).map((iban, column) => ({
    ...{ column, iban, party: null, bic: null, answer: null, isRepeated: false, isText: false },
  }));
  const titles = cells.map(() => 't');
  for (let row = 1; row <= 200; row += 1) {
    judgeRow({ row, cells, ibans, banks: noBanks, columns: { ...noColumns, ibans, titles } });
  }
}

async function readReport(count: number): Promise<void> {
  const ids = '<OrgnlEndToEndId>REPEATED</OrgnlEndToEndId><TxSts>RJCT</TxSts>';
  await readStatusReport(
    bytes(
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>',
      '<OrgnlPmtInfAndSts><OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId>',
      `<TxInfAndSts>${ids}</TxInfAndSts>`.repeat(count),
      '</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>',
    ),
  );
}

function createElement(
  name: string,
  content: string | readonly XmlElement[],
  parent: XmlElement | null = null,
): XmlElement {
  const [text, children] = typeof content === 'string' ? [content, []] : ['', [...content]];
  const place = { line: 1, order: 1, index: 1, parent, prefix: '', start: 0, end: 0, allows: () => true };
  return { name, text, children, attributes: {}, ...place };
}

/** A report with one EndToEndId, in the reverse order of the message, about payments with one identification. */
async function compareReport(count: number): Promise<void> {
  const numbers = Array.from({ length: count }, (_, n) => n);
  const ids = (n: number) => `<OrgnlInstrId>I${n}</OrgnlInstrId><OrgnlEndToEndId>E</OrgnlEndToEndId>`;
  const statusOf = (n: number) => `<TxInfAndSts>${ids(n)}<TxSts>RJCT</TxSts></TxInfAndSts>`;
  const report = await readStatusReport(
    bytes(
      '<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>',
      '<OrgnlGrpInfAndSts><OrgnlMsgId>M</OrgnlMsgId></OrgnlGrpInfAndSts>',
      ...numbers.map((n) => `<OrgnlPmtInfAndSts><OrgnlPmtInfId>P</OrgnlPmtInfId>${statusOf(n)}</OrgnlPmtInfAndSts>`),
      '</CstmrPmtStsRpt></Document>',
    ),
  );
  const findings = new MessageFindings(noAnswers);
  const payment = createElement('PmtInf', [createElement('PmtInfId', 'P')]);
  report.checkMessage(createElement('MsgId', 'M'), findings);
  for (const n of numbers.toReversed()) {
    const id = [createElement('InstrId', `I${n}`), createElement('EndToEndId', 'E')];
    report.checkPayment(payment, findings);
    report.checkTransaction(createElement('CdtTrfTxInf', [createElement('PmtId', id)], payment), findings);
  }
  findings.endPart();
  expect(findings.waiting()).toBe(count);
}

const cases: readonly [name: string, count: number, work: (count: number) => unknown][] = [
  ['findings at one element', 4_000, findMany],
  ['transactions with one identification in a report', 8_000, readReport],
  ['transactions of a report in another order', 4_000, compareReport],
  ['columns without an IBAN', 250, (width) => judgeWide(width, () => '')],
  ['columns with texts', 250, (width) => judgeWide(width, () => 'x'.repeat(30))],
  ['entries of one bank in a register', 8_000, importRegister],
];

it.each(cases)('%s take time in proportion to their number', { timeout: 60_000 }, async (_, count, work) => {
  const measure = async (count: number) => {
    let least = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 3; run += 1) {
      const before = process.cpuUsage();
      await work(count);
      const { user, system } = process.cpuUsage(before);
      least = Math.min(least, user + system);
    }
    return least;
  };
  await measure(count);
  const [once, fourfold] = [await measure(count), await measure(4 * count)];
  // Less than 5 ms are those of anything else.
  expect(fourfold).toBeLessThan(9 * Math.max(once, 5_000));
});

async function importRegister(count: number): Promise<void> {
  const path = join(tFolder(), 'sct.csv');
  const row = 'Bank,AAAADEFFXXX,2026-01-01,\n';
  writeFileSync(path, `ParticipantName,BIC,Readiness Date,Scheme Leaving Date\n${row.repeat(count)}`);
  const { participants } = await readRegisterFile({ path });
  expect(participants.get('AAAADEFFXXX')).toHaveLength(count);
}
