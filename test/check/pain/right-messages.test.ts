import { describe, expect, it } from 'vitest';
import { findAllIn, rightMessage, versions } from '../../support/check/pain-messages.ts';

it.each(versions)('finds nothing in a right %s', async (version) => {
  const { findings, summary } = await findAllIn(rightMessage(version));
  const isOld = version === 'pain.001.001.03' || version === 'pain.008.001.02';
  expect(findings.map(({ code }) => code)).toEqual(isOld ? ['VERSION_ENDED'] : []);
  expect(summary).toEqual({
    message: version,
    payments: 2,
    transactions: 3,
    ibans: 3,
    rules: [{ scheme: 'sepa', transactions: 3 }],
    sums: [{ currency: 'EUR', sum: '1112.35' }],
    found: { error: 0, warning: 0, hint: 0, others: isOld ? 1 : 0 },
    isComplete: true,
  });
});

describe('finds nothing', () => {
  const transfer = rightMessage('pain.001.001.09');
  const debit = rightMessage('pain.008.001.08');
  const supplement =
    '<SplmtryData><Envlp><x:a xmlns:x="urn:x"><x:IBAN>ü</x:IBAN><Nm>ü</Nm></x:a></Envlp></SplmtryData>';

  /** Without a service level, and with other charges. */
  function notSepa(message: string): string {
    return message
      .replaceAll(/ *<PmtTpInf>.*?<\/PmtTpInf>\n/gs, '')
      .replaceAll('>SLEV<', '>SHAR<')
      .replaceAll(/<(NbOfTxs|CtrlSum)>(?=2<|1<|112|1000<).*?<\/\1>/g, '');
  }

  it.each([
    ['in one line', transfer.replaceAll(/\n\s*/g, '')],
    ['with line ends of Windows', transfer.replaceAll('\n', '\r\n')],
    [
      'with prefixes',
      transfer
        .replaceAll(/<(\/?)(?=[A-Z])/g, '<$1p:')
        .replace('xmlns=', 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="a b" xmlns:p='),
    ],
    ['with comments', transfer.replaceAll('<Id>', '<!-- ü --><Id>').replace('>INVOICE-1<', '>INV<!-- 1 -->OICE-1<')],
    ['with entities of XML', transfer.replace('MESSAGE-1', '&#77;ESSAGE-&#x31;').replace('Ink and', 'Ink &apos;n')],
    ['with a stylesheet', transfer.replace('<Document', '<?xml-stylesheet href="a.xsl"?><Document')],
    ['in supplementary data', transfer.replace('</CstmrCdtTrfInitn>', `${supplement}</CstmrCdtTrfInitn>`)],
    [
      'with an address for mail',
      transfer.replace(
        '</Nm></InitgPty>',
        '</Nm><CtctDtls><EmailAdr>ink_1@ink.example</EmailAdr></CtctDtls></InitgPty>',
      ),
    ],
    ['with a time of execution', transfer.replace(/<Dt>.*?<\/Dt>/, '<DtTm>2026-11-30T08:00:00.000+01:00</DtTm>')],
    [
      'in an instant payment on a Sunday',
      transfer
        .replace('</SvcLvl>', '</SvcLvl><LclInstrm><Cd>INST</Cd></LclInstrm>')
        .replace('<Dt>2026-11-30', '<Dt>2026-11-29'),
    ],
    ['in a payment of today', transfer.replaceAll('<Dt>2026-11-30', '<Dt>2026-11-26')],
    ['without control sums', transfer.replaceAll(/(?<=<\/NbOfTxs>)<CtrlSum>.*?<\/CtrlSum>/g, '')],
    ['with zeros behind the sums', transfer.replace('>1000<', '>1000.00000<')],
    [
      'with a sum that binary fractions do not have',
      transfer
        .replace('>12.35<', '>0.1<')
        .replace('>100<', '>0.2<')
        .replace('>112.35<', '>0.3<')
        .replace('>1112.35<', '>1000.3<'),
    ],
    [
      'in a payment in another currency that is not SEPA',
      transfer
        .replace('<Cd>SEPA', '<Cd>URGP')
        .replaceAll(/Ccy="EUR">(?=12|100<)/g, 'Ccy="USD">')
        .replace('SLEV', 'SHAR')
        .replace('NL91ABNA0417164300', 'TR330006100519786457841326'),
    ],
    [
      'in a payment that is not SEPA, to an account without IBAN',
      transfer
        .replaceAll(/<PmtTpInf>.*<\/PmtTpInf>/g, '')
        .replaceAll('<Othr><Id>NOTPROVIDED</Id></Othr>', '<BICFI>PSSTFRPPPAR</BICFI>')
        .replace('<IBAN>NL91ABNA0417164300</IBAN>', '<Othr><Id>123456</Id></Othr>'),
    ],
    [
      'where each transaction has its sequence and creditor',
      debit
        .replaceAll(/ *<(PmtTpInf|CdtrSchmeId)>.*?<\/\1>\n/gs, '')
        .replaceAll(
          '</PmtId>',
          '</PmtId><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl><LclInstrm><Cd>B2B</Cd></LclInstrm><SeqTp>OOFF</SeqTp></PmtTpInf>',
        )
        .replaceAll(
          '</MndtRltdInf>',
          '</MndtRltdInf><CdtrSchmeId><Id><PrvtId><Othr><Id>DE98ABC09999999999</Id><SchmeNm><Prtry>SEPA</Prtry></SchmeNm></Othr></PrvtId></Id></CdtrSchmeId>',
        ),
    ],
    [
      'in payments in Norwegian kroner to accounts without IBAN, with several texts',
      notSepa(transfer)
        .replaceAll(/Ccy="EUR"/g, 'Ccy="NOK"')
        .replaceAll('<Othr><Id>NOTPROVIDED</Id></Othr>', '<BICFI>DNBANOKK</BICFI>')
        .replaceAll(
          /<IBAN>(?:FR|NL)[^<]*<\/IBAN>/g,
          '<Othr><Id>12345678901</Id><SchmeNm><Cd>BBAN</Cd></SchmeNm></Othr>',
        )
        .replaceAll(/<Ustrd>/g, '<Ustrd>Invoice</Ustrd><Ustrd>'),
    ],
    [
      'in payments of an amount that the bank converts',
      notSepa(transfer).replaceAll(
        /<InstdAmt (.*?)<\/InstdAmt>/g,
        '<EqvtAmt><Amt $1</Amt><CcyOfTrf>USD</CcyOfTrf></EqvtAmt>',
      ),
    ],
    [
      'in cheques, which have no account of a creditor',
      notSepa(transfer)
        .replaceAll('>TRF<', '>CHK<')
        .replaceAll(/<CdtrAcct>.*?<\/CdtrAcct>/g, '')
        .replaceAll(/<CdtrAgt>.*?<\/CdtrAgt>/g, '<ChqInstr><ChqTp>BCHQ</ChqTp><ChqNb>1</ChqNb></ChqInstr>'),
    ],
    [
      'in Swiss payments with QR references, and letters with accents',
      notSepa(transfer)
        .replaceAll('DE89370400440532013000', 'CH9300762011623852957')
        .replaceAll('COBADEFFXXX', 'UBSWCHZH80A')
        .replaceAll('Ccy="EUR"', 'Ccy="CHF"')
        .replaceAll(/<IBAN>(?:FR|NL)[^<]*/g, '<IBAN>CH4431999123000889012')
        .replaceAll(/Creditor \d/g, 'Bäckerei &amp; Café')
        .replaceAll(
          /<Ustrd>.*?<\/Ustrd>/g,
          '<Strd><CdtrRefInf><Tp><CdOrPrtry><Prtry>QRR</Prtry></CdOrPrtry></Tp><Ref>210000000003139471430009017</Ref></CdtrRefInf></Strd>',
        ),
    ],
    [
      'in the Swiss version of 2009',
      rightMessage('pain.001.001.03')
        .replace(
          'urn:iso:std:iso:20022:tech:xsd:pain.001.001.03',
          'http://www.six-interbank-clearing.com/de/pain.001.001.03.ch.02.xsd',
        )
        .replaceAll('DE89370400440532013000', 'LU280019400644750000'),
    ],
    ['to be executed as soon as possible', transfer.replaceAll('<Dt>2026-11-30', '<Dt>1999-01-01')],
    [
      'where the name of an account is written in another way',
      transfer.replace(/(?<=PAYMENT-2.*)Creditor 1/s, '1, CREDITOR'),
    ],
    ['without references', transfer.replaceAll(/(?<=<EndToEndId>)[^<]*/g, 'NOTPROVIDED')],
  ])('%s', async (_, message) => {
    expect([transfer, debit]).not.toContain(message);
    const { findings, summary } = await findAllIn(message);
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({ transactions: 3, isComplete: true });
  });

  it('by the profile iso in direct debits in US dollars', async () => {
    const message = notSepa(debit)
      .replaceAll('Ccy="EUR"', 'Ccy="USD"')
      .replaceAll(/<CdtrSchmeId>.*?<\/CdtrSchmeId>/gs, '')
      .replaceAll(/<DrctDbtTx>.*?<\/DrctDbtTx>/g, '')
      .replaceAll(/<IBAN>[^<]*<\/IBAN>/g, '<Othr><Id>123456789</Id></Othr>');
    expect((await findAllIn(message, { profile: 'iso' })).findings).toEqual([]);
    expect((await findAllIn(message)).findings.map(({ code }) => code)).toEqual(['RULES_NOT_CHECKED']);
  });

  it('by the profile of German banks in payments that are not SEPA, which do not follow their schema for SEPA', async () => {
    const message = notSepa(transfer)
      .replaceAll('Ccy="EUR"', 'Ccy="USD"')
      .replaceAll('<Othr><Id>NOTPROVIDED</Id></Othr>', '<BICFI>CHASUS33</BICFI><Nm>Chase</Nm>')
      .replaceAll(/<IBAN>(?:FR|NL)[^<]*<\/IBAN>/g, '<Othr><Id>12345678901</Id></Othr>')
      .replaceAll(/<Ustrd>/g, '<Ustrd>Invoice</Ustrd><Ustrd>');
    const { findings, summary } = await findAllIn(message, { profile: 'dk' });
    expect([findings, summary.rules]).toEqual([[], [{ scheme: 'dk-other', transactions: 3 }]]);
  });
});
