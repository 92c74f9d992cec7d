import { describe, expect, it } from 'vitest';
import { replay } from '../../../src/base/input-file.ts';
import { readStatusReport } from '../../../src/check/pain/status-report.ts';
import { findAllIn, rightMessage } from '../../support/check/pain-messages.ts';

const sent = rightMessage('pain.001.001.09');
const transfer = (payment: number, index: number) =>
  `/Document/CstmrCdtTrfInitn/PmtInf[${payment}]/CdtTrfTxInf[${index}]`;

interface Reported {
  version?: string;
  messageId?: string;
  group?: string;
  payments?: readonly string[];
}

function createReport({ version = '10', messageId = 'MESSAGE-1', group = '', payments = [] }: Reported): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.${version}"><CstmrPmtStsRpt>
<GrpHdr><MsgId>REPORT-1</MsgId><CreDtTm>2026-11-26T10:00:00</CreDtTm></GrpHdr>
<OrgnlGrpInfAndSts><OrgnlMsgId>${messageId}</OrgnlMsgId><OrgnlMsgNmId>pain.001.001.09</OrgnlMsgNmId>${group}</OrgnlGrpInfAndSts>
${payments.map((payment) => `<OrgnlPmtInfAndSts>${payment}</OrgnlPmtInfAndSts>`).join('\n')}
</CstmrPmtStsRpt></Document>`;
}

const statusOf = (ids: string, status: string, reason = '', text = '') =>
  `<TxInfAndSts>${ids}<TxSts>${status}</TxSts><StsRsnInf>${reason && `<Rsn><Cd>${reason}</Cd></Rsn>`}${text && `<AddtlInf>${text}</AddtlInf>`}</StsRsnInf></TxInfAndSts>`;
const endToEnd = (number: number) => `<OrgnlEndToEndId>INVOICE-${number}</OrgnlEndToEndId>`;

async function findWith(reported: Reported) {
  async function* chunks() {
    yield Buffer.from(createReport(reported));
  }
  const { findings } = await findAllIn(sent, { report: await readStatusReport(chunks()) });
  return findings;
}

describe('a status report', () => {
  it.each(['03', '10', '14'])('of version %s puts what was rejected, and why, at the transaction', async (version) => {
    const ids = `<OrgnlInstrId>INSTRUCTION-2</OrgnlInstrId>${endToEnd(2)}`;
    const payments = [
      `<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId>${statusOf(endToEnd(1), 'ACSC')}${statusOf(ids, 'RJCT', 'AC04')}`,
      `<OrgnlPmtInfId>PAYMENT-2</OrgnlPmtInfId>${statusOf(endToEnd(3), 'RJCT', 'ZZ99')}`,
    ];
    expect(await findWith({ version, payments })).toEqual([
      {
        ...{ code: 'BANK_REJECTED', severity: 'error', suggestion: null },
        place: { line: 35, xpath: transfer(1, 2) },
        message: 'The bank has rejected it (RJCT): the account is closed (AC04).',
      },
      expect.objectContaining({ message: 'The bank has rejected it (RJCT): ZZ99.', place: expect.anything() }),
    ]);
  });

  it('has the results of Verification of Payee, with the name that the bank knows', async () => {
    const statuses = `${statusOf(endToEnd(1), 'RVMC', '', 'Creditor One')}${statusOf(endToEnd(2), 'RVNM')}`;
    const payments = [
      `<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId>${statuses}`,
      `<OrgnlPmtInfId>PAYMENT-2</OrgnlPmtInfId>${statusOf(endToEnd(3), 'RVNA')}`,
    ];
    const findings = await findWith({ payments });
    expect(findings.map(({ code, place, suggestion }) => [code, 'xpath' in place && place.xpath, suggestion])).toEqual([
      ['PAYEE_NAME_DIFFERS', transfer(1, 1), 'Creditor One'],
      ['PAYEE_NAME_DIFFERS', transfer(1, 2), null],
      ['PAYEE_NOT_VERIFIED', transfer(2, 1), null],
    ]);
  });

  it('may reject the message, or a payment', async () => {
    const rejected = await findWith({ group: '<GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>AM10</Cd></Rsn></StsRsnInf>' });
    expect(rejected).toMatchObject(
      [
        {
          code: 'BANK_REJECTED',
          place: { xpath: '/Document/CstmrCdtTrfInitn/GrpHdr/MsgId' },
          message: /wrong control sum \(AM10\)/,
        },
      ].map(({ message, ...others }) => ({ ...others, message: expect.stringMatching(message) })),
    );
    const payments = ['<OrgnlPmtInfId>PAYMENT-2</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts>'];
    expect(await findWith({ payments })).toMatchObject([
      { code: 'BANK_REJECTED', place: { xpath: '/Document/CstmrCdtTrfInitn/PmtInf[2]' } },
    ]);
  });

  it('about another message, or with other transactions, is found', async () => {
    expect(await findWith({ messageId: 'MESSAGE-2' })).toMatchObject([{ code: 'REPORT_OF_OTHER_MESSAGE' }]);
    const payments = [`<OrgnlPmtInfId>PAYMENT-2</OrgnlPmtInfId>${statusOf(endToEnd(1), 'RJCT', 'AC04')}`];
    expect(await findWith({ payments })).toMatchObject([
      {
        code: 'REPORT_NOT_MATCHED',
        message: expect.stringContaining('has 1 transaction that the message does not have'),
      },
    ]);
  });

  it('has rejections that are not lost, though no transaction or payment is found by its identification', async () => {
    const unknown = statusOf('<OrgnlEndToEndId>NOTPROVIDED</OrgnlEndToEndId>', 'RJCT', 'AC04');
    const accepted = statusOf('<OrgnlEndToEndId>NOTPROVIDED</OrgnlEndToEndId>', 'ACSC');
    const payments = [
      `<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId>${unknown}${accepted}`,
      '<OrgnlPmtInfId>PAYMENT-7</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts>',
    ];
    const findings = await findWith({ payments });
    const notFound = (what: string) => ({
      ...{ code: 'REPORT_NOT_MATCHED', place: { xpath: '/Document/CstmrCdtTrfInitn' } },
      message: `The report has 1 ${what} that the message does not have, by their identifications.`,
    });
    expect(findings).toMatchObject([notFound('payment'), notFound('transaction')]);
  });

  it('may say something about a payment twice', async () => {
    const payment = (status: string) => `<OrgnlPmtInfId>PAYMENT-2</OrgnlPmtInfId><PmtInfSts>${status}</PmtInfSts>`;
    expect(await findWith({ payments: [payment('RJCT'), payment('PART')] })).toMatchObject([{ code: 'BANK_REJECTED' }]);
  });

  it('must have the message of a report', async () => {
    const report = createReport({}).replaceAll('CstmrPmtStsRpt', 'CstmrCdtTrfInitn');
    const reading = readStatusReport(replay([Buffer.from(report)]));
    await expect(reading).rejects.toThrow('pain.002.001.10 has one CstmrPmtStsRpt, and nothing else.');
  });

  it('must be a pain.002', async () => {
    await expect(findWith({ version: '04' })).rejects.toThrow(
      'The report must be pain.002.001.03, or pain.002.001.10 or later.',
    );
  });
});
