import { describe, expect, it } from 'vitest';
import { replay } from '../../../src/base/input-file.ts';
import type { RuleCode } from '../../../src/check/finding.ts';
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
const withReason = (status: string, ...reasons: string[]) =>
  statusOf(endToEnd(1), status).replace(
    /<StsRsnInf>.*<\/StsRsnInf>/,
    reasons.map((each) => `<StsRsnInf>${each}</StsRsnInf>`).join(''),
  );
const endToEnd = (number: number) => `<OrgnlEndToEndId>INVOICE-${number}</OrgnlEndToEndId>`;

async function findWith(reported: Reported, message = sent) {
  const report = await readStatusReport(replay([Buffer.from(createReport(reported))]));
  const { findings } = await findAllIn(message, { report });
  return findings;
}

async function describeWith(reported: Reported, message = sent) {
  const report = await readStatusReport(replay([Buffer.from(createReport(reported))]));
  await findAllIn(message, { report });
  return report.describe();
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
      expect.objectContaining({
        message: 'The bank has rejected it (RJCT): the code ZZ99 of the bank.',
        place: expect.anything(),
      }),
    ]);
  });

  it.each<[name: string, status: string, message: string]>([
    [
      'beside a code with a meaning',
      withReason('RJCT', '<Rsn><Cd>AC04</Cd></Rsn><AddtlInf>Closed on 3 May.</AddtlInf>'),
      'The bank has rejected it (RJCT): the account is closed (AC04). The bank writes: "Closed on 3 May.".',
    ],
    [
      'beside a code without a meaning',
      withReason('RJCT', '<Rsn><Cd>ZZ99</Cd></Rsn><AddtlInf>Limit</AddtlInf><AddtlInf>exceeded</AddtlInf>'),
      'The bank has rejected it (RJCT): the code ZZ99 of the bank. The bank writes: "Limit exceeded".',
    ],
    [
      'in a reason of its own',
      withReason('RJCT', '<Rsn><Prtry>Compte clos</Prtry></Rsn>', '<Rsn><Prtry>E17</Prtry></Rsn>'),
      'The bank has rejected it (RJCT): the code E17 of the bank. The bank writes: "Compte clos".',
    ],
    [
      'of a payment that is not rejected',
      withReason('ACWC', '<AddtlInf>On\n 1 December</AddtlInf>'),
      'The bank executes it with a change, such as another date (ACWC). Ask the bank which. The bank writes: "On 1 December".',
    ],
    [
      'with a status that nobody knows',
      withReason('XXXX', '<Rsn><Cd>AC04</Cd></Rsn><AddtlInf>Closed</AddtlInf>'),
      'The status XXXX is not one of ISO 20022. Ask the bank. The reason: the account is closed (AC04). The bank writes: "Closed".',
    ],
    [
      'without a status',
      withReason('', '<AddtlInf>Closed</AddtlInf>').replace('<TxSts></TxSts>', ''),
      'The report has no status for it. Ask the bank. The bank writes: "Closed".',
    ],
    [
      'with an IBAN',
      withReason('RJCT', '<AddtlInf>DE89 3704 0044 0532 0130 00 is closed</AddtlInf>'),
      'The bank has rejected it (RJCT). The bank writes: "[IBAN] is closed".',
    ],
    [
      'at length',
      withReason('RJCT', `<AddtlInf>${'x'.repeat(2_000)}</AddtlInf>`),
      `The bank has rejected it (RJCT). The bank writes: "${'x'.repeat(840)}…".`,
    ],
  ])('quotes what the bank writes %s', async (_, status, message) => {
    const payments = [`<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId>${status}`];
    expect((await findWith({ payments })).map((finding) => finding.message)).toEqual([message]);
  });

  const payment = (number: number, ...statuses: string[]) =>
    `<OrgnlPmtInfId>PAYMENT-${number}</OrgnlPmtInfId>${statuses.join('')}`;
  it.each<[name: string, reported: Reported, line: string | null]>([
    ['accepts the message', { group: '<GrpSts>ACCP</GrpSts>' }, 'all 3 payments accepted'],
    [
      'accepts each batch',
      { payments: [1, 2].map((number) => payment(number, '<PmtInfSts>ACSC</PmtInfSts>')) },
      'all 3 payments accepted',
    ],
    [
      'accepts each payment, without identifications',
      { payments: [payment(1, ...[1, 2, 3].map(() => statusOf('', 'ACSC')))] },
      'all 3 payments accepted',
    ],
    [
      'accepts some',
      { payments: [payment(1, statusOf(endToEnd(1), 'ACSC'), statusOf(endToEnd(2), 'RJCT', 'AC04'))] },
      'of 3 payments, 1 accepted, 1 rejected, 1 without a status',
    ],
    [
      'accepts a part, and names what it rejects',
      { group: '<GrpSts>PART</GrpSts>', payments: [payment(2, statusOf(endToEnd(3), 'RJCT', 'AC04'))] },
      'of 3 payments, 2 without a status, 1 rejected',
    ],
    ['rejects the message', { group: '<GrpSts>RJCT</GrpSts>' }, 'all 3 payments rejected'],
    [
      'has compared the names',
      { payments: [payment(1, ...[1, 2, 3].map((number) => statusOf(endToEnd(number), 'RCVC')))] },
      'of 3 payments, 2 with the name of the account holder, 1 without a status',
    ],
    [
      'waits',
      { payments: [payment(1, statusOf(endToEnd(1), 'PDNG'))] },
      'of 3 payments, 1 with another status, 2 without a status',
    ],
    ['is about another message', { messageId: 'MESSAGE-2', group: '<GrpSts>ACCP</GrpSts>' }, null],
  ])('that %s has one line about all payments', async (_, reported, line) => {
    expect(await describeWith(reported)).toEqual(line === null ? [] : [`report REPORT-1: ${line}`]);
  });

  it('about a message that is cut off has no line about all payments', async () => {
    expect(await describeWith({ group: '<GrpSts>ACCP</GrpSts>' }, sent.slice(0, -30))).toEqual([]);
  });

  it('has the results of Verification of Payee, with the name of the account of a close match', async () => {
    const statuses = `${statusOf(endToEnd(1), 'RVMC', '', '"Creditor One')}${statusOf(endToEnd(2), 'RVNM', '', 'Creditor Two')}`;
    const payments = [
      `<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId><PmtInfSts>RVMC</PmtInfSts>${statuses}`,
      `<OrgnlPmtInfId>PAYMENT-2</OrgnlPmtInfId>${statusOf(endToEnd(3), 'RVNA')}`,
    ];
    // What is said of the whole is not repeated, and its texts are no names.
    const group = '<GrpSts>RVCM</GrpSts><StsRsnInf><AddtlInf>RVMC The name</AddtlInf></StsRsnInf>';
    const findings = await findWith({ group, payments });
    expect(findings.map(({ code, place, suggestion }) => [code, place.xpath, suggestion])).toEqual([
      ['PAYEE_NAME_SIMILAR', transfer(1, 1), 'Creditor One'],
      ['PAYEE_NAME_DIFFERS', transfer(1, 2), null],
      ['PAYEE_NOT_VERIFIED', transfer(2, 1), null],
    ]);
    const boilerplate = `<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId>${statusOf(endToEnd(1), 'RVMC', '', 'RVMC The name was compared.')}`;
    expect(await findWith({ payments: [boilerplate] })).toMatchObject([{ suggestion: null }]);
  });

  it.each<[status: string, code: RuleCode | null, severity?: string, message?: RegExp]>([
    ...'ACCC ACCP ACFC ACIS ACPD ACSC ACSP ACTC CPUC PRES RCVC'
      .split(' ')
      .map((status) => [status, null] as [string, null]),
    ['RJCT', 'BANK_REJECTED', 'error', /\(RJCT\): without a reason\.$/],
    ['CANC', 'BANK_REJECTED', 'error', /^It is canceled/],
    ['BLCK', 'BANK_ATTENTION', 'warning', /blocked/],
    ['ACWC', 'BANK_ATTENTION', 'warning', /with a change/],
    ['PART', 'BANK_ATTENTION', 'warning', /only a part/],
    ['RVCM', 'BANK_ATTENTION', 'warning', /Not all names/],
    ['RVNM', 'PAYEE_NAME_DIFFERS', 'error', /is not that of the account holder \(RVNM\)/],
    ['RVMC', 'PAYEE_NAME_SIMILAR', 'warning', /almost/],
    ['RVNA', 'PAYEE_NOT_VERIFIED', 'warning', /could not be compared/],
    ['RVNC', 'PAYEE_NOT_VERIFIED', 'warning', /not all compared/],
    ['PDNG', 'BANK_PENDING', 'hint', /not decided/],
    ['RCVD', 'BANK_PENDING', 'hint', /has received it/],
    ['PATC', 'BANK_PENDING', 'hint', /signatures/],
    ['ACWP', 'BANK_PENDING', 'hint', /not booked it yet/],
    ['XXXX', 'BANK_STATUS_UNKNOWN', 'warning', /^The status XXXX is not one of ISO 20022\./],
    ['rjct', 'BANK_STATUS_UNKNOWN', 'warning', /^The status rjct is not .* In capitals: The bank has rejected it\./],
    ['', 'BANK_STATUS_UNKNOWN', 'warning', /has no status/],
    [' ', 'BANK_STATUS_UNKNOWN', 'warning', /has no status/],
    ['DE89 3704 0044 0532 0130 00', 'BANK_STATUS_UNKNOWN', 'warning', /^The status of the report is not/],
  ])(
    'has no silence about the status %j, of the message, a payment or a transaction',
    async (status, code, severity, message) => {
      const payment = (content: string) => `<OrgnlPmtInfId>PAYMENT-2</OrgnlPmtInfId>${content}`;
      const all = await Promise.all([
        findWith({ group: `<GrpSts>${status}</GrpSts>` }),
        findWith({ payments: [payment(`<PmtInfSts>${status}</PmtInfSts>`)] }),
        findWith({ payments: [payment(statusOf(endToEnd(3), status))] }),
      ]);
      const places = ['GrpHdr/MsgId', 'PmtInf[2]', 'PmtInf[2]/CdtTrfTxInf[1]'].map(
        (at) => `/Document/CstmrCdtTrfInitn/${at}`,
      );
      const expected = (xpath: string | undefined) => ({
        code,
        severity,
        message: expect.stringMatching(message ?? ''),
        place: { xpath },
      });
      expect(all).toMatchObject(places.map((xpath) => (code === null ? [] : [expected(xpath)])));
      for (const { message: text } of all.flat()) expect(text).not.toContain('3704');
    },
  );

  it.each<[name: string, reported: Reported, places: readonly string[]]>([
    ['anything', {}, ['GrpHdr/MsgId']],
    ['a payment', { payments: ['<OrgnlPmtInfId>PAYMENT-2</OrgnlPmtInfId>'] }, ['PmtInf[2]']],
    [
      'a transaction',
      {
        group: '<GrpSts>ACCP</GrpSts>',
        payments: [`<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId><TxInfAndSts>${endToEnd(2)}</TxInfAndSts>`],
      },
      ['PmtInf[1]/CdtTrfTxInf[2]'],
    ],
    [
      'a payment, but of the message',
      { group: '<GrpSts>ACCP</GrpSts>', payments: ['<OrgnlPmtInfId>PAYMENT-2</OrgnlPmtInfId>'] },
      [],
    ],
  ])('that has no status of %s says so', async (_, reported, places) => {
    const expected = places.map((at) => ({
      code: 'BANK_STATUS_UNKNOWN',
      place: { xpath: `/Document/CstmrCdtTrfInitn/${at}` },
    }));
    expect(await findWith(reported)).toMatchObject(expected);
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

  it.each([
    ['another message', { messageId: 'MESSAGE-2' }],
    ['a message that it does not name', { messageId: '' }],
  ])('about %s judges nothing of this one', async (_, other) => {
    const group = '<GrpSts>RJCT</GrpSts>';
    const payments = [
      `<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts>${statusOf(endToEnd(1), 'RJCT', 'AC04')}`,
    ];
    const place = { xpath: '/Document/CstmrCdtTrfInitn/GrpHdr/MsgId' };
    const expected = [{ code: 'REPORT_OF_OTHER_MESSAGE', severity: 'error', place }];
    expect(await findWith({ ...other, group, payments })).toMatchObject(expected);
    const nameless = sent.replace('<MsgId>MESSAGE-1</MsgId>', '');
    const found = await findWith({ ...other, group, payments }, nameless);
    expect(found.map(({ code }) => code)).toEqual(['MISSING_ELEMENT', 'REPORT_OF_OTHER_MESSAGE']);
    const headless = await findWith({ group, payments }, sent.replace(/<GrpHdr>.*<\/GrpHdr>/s, ''));
    expect(headless.map(({ code }) => code)).toEqual(['MISSING_ELEMENT', 'REPORT_OF_OTHER_MESSAGE']);
  });

  it('has rejections that are errors with their reason, though the message has no place for them', async () => {
    const iban =
      '<OrgnlTxRef><Amt><InstdAmt Ccy="EUR">12.35</InstdAmt></Amt><CdtrAcct><Id><IBAN>FR1420041010050500013M02606</IBAN></Id></CdtrAcct></OrgnlTxRef>';
    const unnamed = statusOf('<OrgnlEndToEndId>NOTPROVIDED</OrgnlEndToEndId>', 'RJCT', 'AC04').replace(
      '</TxInf',
      `${iban}</TxInf`,
    );
    const accepted = statusOf('<OrgnlEndToEndId>NOTPROVIDED</OrgnlEndToEndId>', 'ACSC');
    const twice = statusOf(endToEnd(1), 'RJCT', 'AM05');
    const payments = [
      `<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId>${unnamed}${accepted}${statusOf(endToEnd(9), 'ACSC')}`,
      `<OrgnlPmtInfId>PAYMENT-7</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts>${statusOf('<OrgnlEndToEndId>DE89370400440532013000</OrgnlEndToEndId>', 'RVNM')}`,
      `<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId>${twice}${twice}`,
    ];
    const findings = await findWith({ payments });
    expect(findings.map(({ code, severity, message }) => [code, severity, message])).toEqual([
      ['BANK_REJECTED', 'error', 'The bank has rejected it (RJCT): duplicate (AM05).'],
      [
        'BANK_REJECTED',
        'error',
        'The bank has rejected it (RJCT): without a reason. The message has no such payment, or not so often: PmtInfId PAYMENT-7.',
      ],
      [
        'BANK_REJECTED',
        'error',
        'The bank has rejected it (RJCT): the account is closed (AC04). The message has no such transaction, or not so often: IBAN FR14 **** **** **** **** ***2 606, EUR 12.35, PmtInfId PAYMENT-1.',
      ],
      [
        'PAYEE_NAME_DIFFERS',
        'error',
        'The name is not that of the account holder (RVNM). Ask the payee for it. The message has no such transaction, or not so often: EndToEndId [IBAN], PmtInfId PAYMENT-7.',
      ],
      [
        'BANK_REJECTED',
        'error',
        'The bank has rejected it (RJCT): duplicate (AM05). The message has no such transaction, or not so often: EndToEndId INVOICE-1, PmtInfId PAYMENT-1.',
      ],
      [
        'REPORT_NOT_MATCHED',
        'warning',
        'The report has 1 transaction that the message does not have, by their identifications.',
      ],
    ]);
    expect(findings.map(({ place }) => place.xpath)).toEqual([
      transfer(1, 1),
      ...Array(5).fill('/Document/CstmrCdtTrfInitn'),
    ]);
  });

  describe('about a transaction without identification, in a message of one', () => {
    const single = sent
      .replace(/<CdtTrfTxInf>(?:(?!<CdtTrfTxInf>).)*INVOICE-2.*?<\/CdtTrfTxInf>/s, '')
      .replace(/<PmtInf>(?:(?!<PmtInf>).)*PAYMENT-2.*<\/PmtInf>/s, '');
    const iban = '<CdtrAcct><Id><IBAN>FR1420041010050500013M02606</IBAN></Id></CdtrAcct>';
    const name = (text: string) => `<Cdtr><Pty><Nm>${text}</Nm></Pty></Cdtr>`;
    const amount = (text: string) => `<Amt><InstdAmt Ccy="EUR">${text}</InstdAmt></Amt>`;
    it.each<[name: string, original: string, isPlaced: boolean, paymentId?: string, message?: string]>([
      ['the IBAN and the name agree', `${name('CREDITOR 1')}${iban}`, true],
      ['they agree in a report of 2009', `<Cdtr><Nm>Creditor 1</Nm></Cdtr>${iban}`, true],
      ['the amount agrees', amount('12.350'), true],
      ['the report does not name the payment', amount('12.35'), true, 'NOTPROVIDED'],
      ['it is of another payment', amount('12.35'), false, 'PAYMENT-2'],
      ['the name is another', `${name('Creditor 2')}${iban}${amount('12.35')}`, false],
      ['the IBAN is another', `${name('Creditor 1')}${iban.replace('606', '607')}`, false],
      ['the amount is another', `${amount('12.36')}${name('Creditor 1')}${iban}`, false],
      ['only the name is known', name('Creditor 1'), false],
      ['nothing is known', '', false],
      ['the message has others', amount('12.35'), false, 'PAYMENT-1', sent],
    ])('is placed if it is certain: %s', async (_, original, isPlaced, paymentId = 'PAYMENT-1', message = single) => {
      const status = `<TxInfAndSts><OrgnlEndToEndId>NOTPROVIDED</OrgnlEndToEndId><TxSts>RJCT</TxSts><OrgnlTxRef>${original}</OrgnlTxRef></TxInfAndSts>`;
      const findings = await findWith({ payments: [`<OrgnlPmtInfId>${paymentId}</OrgnlPmtInfId>${status}`] }, message);
      const place = { xpath: isPlaced ? transfer(1, 1) : '/Document/CstmrCdtTrfInitn' };
      expect(findings.filter(({ code }) => code.startsWith('BANK'))).toMatchObject([
        { code: 'BANK_REJECTED', severity: 'error', place },
      ]);
    });
  });

  it('is found by the identifications that both have', async () => {
    const ids = (instruction: number, uetr = '') =>
      `<OrgnlInstrId>INSTRUCTION-${instruction}</OrgnlInstrId>${endToEnd(1)}${uetr}`;
    // A bank adds a UETR. The second transaction has the EndToEndId of the first.
    const message = sent.replace('INVOICE-2<', 'INVOICE-1<');
    const payments = [
      `<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId>${statusOf(ids(2, '<OrgnlUETR>a34743b9-fb22-4ec6-9947-03b7e191584e</OrgnlUETR>'), 'RJCT', 'AC04')}`,
    ];
    const findings = await findWith({ payments }, message);
    expect(findings.filter(({ code }) => code === 'BANK_REJECTED')).toMatchObject([
      { place: { xpath: transfer(1, 2) } },
    ]);
  });

  it('is that of the amount or IBAN that it repeats, if several have its identifications', async () => {
    const message = sent.replace('INVOICE-2<', 'INVOICE-1<');
    const amounts = [...message.matchAll(/<InstdAmt Ccy="EUR">([^<]+)</g)].map(([, amount]) => amount);
    const rejected = (original: string) =>
      statusOf(endToEnd(1), 'RJCT', 'AC04').replace(
        '</TxInfAndSts>',
        `<OrgnlTxRef>${original}</OrgnlTxRef></TxInfAndSts>`,
      );
    const placesOf = async (original: string) => {
      const payments = [`<OrgnlPmtInfId>PAYMENT-1</OrgnlPmtInfId>${rejected(original)}`];
      const findings = await findWith({ payments }, message);
      return findings.filter(({ code }) => code === 'BANK_REJECTED').map(({ place }) => place.xpath);
    };
    const amount = (text = '') => `<Amt><InstdAmt Ccy="EUR">${text}</InstdAmt></Amt>`;
    expect(await placesOf(amount(amounts[0]))).toEqual([transfer(1, 1)]);
    expect(await placesOf(amount(amounts[1]))).toEqual([transfer(1, 2)]);
    // Of neither.
    expect(await placesOf(amount('77.77'))).not.toContain(transfer(1, 1));
    const account = (iban: string) => `<CdtrAcct><Id><IBAN>${iban}</IBAN></Id></CdtrAcct>`;
    expect(await placesOf(account('NL91ABNA0417164300'))).not.toContain(transfer(1, 1));
    // Masked.
    expect(await placesOf(account('XXXXXXXXXXXXXXXXXX4300'))).toEqual([transfer(1, 1)]);
  });

  it('may say something about a payment twice', async () => {
    const payment = (status: string) => `<OrgnlPmtInfId>PAYMENT-2</OrgnlPmtInfId><PmtInfSts>${status}</PmtInfSts>`;
    expect(await findWith({ payments: [payment('RJCT'), payment('PART')] })).toMatchObject([
      { code: 'BANK_REJECTED' },
      { code: 'BANK_ATTENTION' },
    ]);
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
