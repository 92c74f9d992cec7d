import { describe, expect, it } from 'vitest';
import { findAllIn, rightMessage, versions } from '../../support/check/pain-messages.ts';

it.each(versions)('finds nothing in a right %s', async (version) => {
  const { findings, summary } = await findAllIn(rightMessage(version));
  expect(findings).toEqual([]);
  expect(summary).toEqual({
    message: version,
    payments: 2,
    transactions: 3,
    ibans: 3,
    sums: [{ currency: 'EUR', sum: '1112.35' }],
    isComplete: true,
  });
});

describe('finds nothing', () => {
  const transfer = rightMessage('pain.001.001.09');
  const debit = rightMessage('pain.008.001.08');
  const supplement =
    '<SplmtryData><Envlp><x:a xmlns:x="urn:x"><x:IBAN>ü</x:IBAN><Nm>ü</Nm></x:a></Envlp></SplmtryData>';

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
        .replace('<IBAN>NL91ABNA0417164300</IBAN>', '<Othr><Id>123456</Id></Othr>'),
    ],
    [
      'where each transaction has its sequence and creditor',
      debit
        .replaceAll(/ *<(PmtTpInf|CdtrSchmeId)>.*?<\/\1>\n/gs, '')
        .replaceAll('</PmtId>', '</PmtId><PmtTpInf><LclInstrm><Cd>B2B</Cd></LclInstrm><SeqTp>OOFF</SeqTp></PmtTpInf>')
        .replaceAll(
          '</MndtRltdInf>',
          '</MndtRltdInf><CdtrSchmeId><Id><PrvtId><Othr><Id>DE98ABC09999999999</Id></Othr></PrvtId></Id></CdtrSchmeId>',
        ),
    ],
    ['in an empty institution', debit.replace(/<Othr><Id>NOTPROVIDED<\/Id><\/Othr>/, '')],
    ['without references', transfer.replaceAll(/(?<=<EndToEndId>)[^<]*/g, 'NOTPROVIDED')],
  ])('%s', async (_, message) => {
    expect([transfer, debit]).not.toContain(message);
    const { findings, summary } = await findAllIn(message);
    expect(findings).toEqual([]);
    expect(summary).toMatchObject({ transactions: 3, isComplete: true });
  });
});
