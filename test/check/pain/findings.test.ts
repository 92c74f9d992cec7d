import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/check/answers/answer-source.ts';
import { type RuleCode, rules } from '../../../src/check/pain/rules.ts';
import { calcCheckDigits } from '../../../src/iban/mod97.ts';
import { lineOf } from '../../support/check/line-of.ts';
import {
  findAllIn,
  rightMessage,
  type Version,
  validAnswer,
  withoutVersionEnd,
} from '../../support/check/pain-messages.ts';
import { refusedFiles } from '../../support/check/refused-files.ts';

/* Each case changes something in a right message, and has exactly one finding, unless it names others. */

interface Case {
  version?: Version;
  change: readonly (readonly [from: string | RegExp, to: string])[];
  /** In the message in `Document`. */
  at: string;
  suggestion?: string;
  message?: RegExp;
  /** Codes of findings that follow from the same mistake. */
  others?: readonly RuleCode[];
  options?: NonNullable<Parameters<typeof findAllIn>[1]>;
}

const payment = 'PmtInf[1]';
const transfer = `${payment}/CdtTrfTxInf[1]`;
const debit = `${payment}/DrctDbtTxInf[1]`;
const directDebit = { version: 'pain.008.001.02' } as const;

/** Those of payees have no BIC, which German banks refuse. */
const withoutBanks = [/<CdtrAgt><FinInstnId><Othr>.*?<\/CdtrAgt>/g, ''] as const;

/** The first account of a creditor, once more in the third transaction. */
const french = 'FR1420041010050500013M02606';
const frenchElement = new RegExp(`(?<=<IBAN>)${french}`);
const withIban = (iban: string): Case => ({ change: [[frenchElement, iban]], at: `${transfer}/CdtrAcct/Id/IBAN` });
const withAnswer = (answer: Answer): Pick<Case, 'change' | 'options'> => ({
  change: [],
  options: { answer: async (iban) => (iban === french ? answer : validAnswer) },
});
/** The last two digits of a French account number are its national check digits. */
const wrongKey = '20041010050500013M02607';
const bicOf = (bic: string, version: Version = 'pain.001.001.09'): Case => ({
  version,
  change: [['COBADEFFXXX', bic]],
  at: `${payment}/DbtrAgt/FinInstnId/${version === 'pain.001.001.09' ? 'BICFI' : 'BIC'}`,
});
const without = (element: string | RegExp, parent: string, path: string, version?: Version): Case => ({
  ...(version && { version }),
  change: [[element, '']],
  at: `${parent}/${path}`,
  message: new RegExp(`^${path} is missing in ${parent.replace(/^.*\/|\[\d\]$/g, '').replace(/\[\d\]/, '')}\\.`),
});
const address = `${payment}/Dbtr/PstlAdr`;
const withAddress = (content: string): Pick<Case, 'change'> => ({
  change: [[/(?<=<PstlAdr>)<StrtNm>.*?(?=<\/PstlAdr>)/, content]],
});
const amount = `${transfer}/Amt/InstdAmt`;
const withAmount = (text: string): Case => ({
  change: [
    ['>12.35<', `>${text}<`],
    ['<CtrlSum>1112.35</CtrlSum>', ''],
    ['<CtrlSum>112.35</CtrlSum>', ''],
  ],
  at: amount,
  others: ['CONTROL_SUM_MISSING'],
});
const executionDate = `${payment}/ReqdExctnDt/Dt`;

const structured = (type: string, reference: string) =>
  `<Strd><CdtrRefInf><Tp><CdOrPrtry>${type}</CdOrPrtry></Tp><Ref>${reference}</Ref></CdtrRefInf></Strd>`;
const amendment = '<AmdmntInfDtls><OrgnlMndtId>EARLIER-1</OrgnlMndtId></AmdmntInfDtls>';

const cases: Partial<Record<RuleCode, readonly Case[]>> = {
  ENCODING_BROKEN: [{ change: [['Creditor 1', 'K\uFFFDln']], at: `${transfer}/Cdtr/Nm` }],
  ELEMENT_OF_OTHER_VERSION: [
    {
      change: [
        [/(<\/?)BICFI(?=>COBA|>.*Agt>\s*<ChrgBr)/, '$1BIC'],
        [/BICFI(?=><\/FinInstnId>)/, 'BIC'],
      ],
      at: `${payment}/DbtrAgt/FinInstnId/BIC`,
      message: /^BIC is not in pain\.001\.001\.09: write BICFI\.$/,
    },
    {
      version: 'pain.001.001.03',
      change: [[/<ReqdExctnDt>(.*?)</, '<ReqdExctnDt><Dt>$1</Dt><']],
      at: `${payment}/ReqdExctnDt/Dt`,
      message: /write the date in ReqdExctnDt itself\.$/,
    },
    {
      change: [[/<Dt>(.*?)<\/Dt>/, '$1']],
      at: `${payment}/ReqdExctnDt`,
      message: /the date is in ReqdExctnDt\/Dt\.$/,
    },
  ],
  MISSING_ELEMENT: [
    { change: [[/<GrpHdr>.*?<\/GrpHdr>/s, '']], at: 'GrpHdr' },
    {
      change: [
        [/<PmtInf>.*<\/PmtInf>/s, ''],
        ['<NbOfTxs>3<', '<NbOfTxs>0<'],
        ['>1112.35<', '>0<'],
      ],
      at: 'PmtInf',
    },
    without('<MsgId>MESSAGE-1</MsgId>', 'GrpHdr', 'MsgId'),
    without('<CreDtTm>2026-11-26T09:30:00</CreDtTm>', 'GrpHdr', 'CreDtTm'),
    without('<NbOfTxs>3</NbOfTxs>', 'GrpHdr', 'NbOfTxs'),
    without('<InitgPty><Nm>Ink and Paper Ltd</Nm></InitgPty>', 'GrpHdr', 'InitgPty'),
    without('<PmtInfId>PAYMENT-1</PmtInfId>', payment, 'PmtInfId'),
    without('<PmtMtd>TRF</PmtMtd>', payment, 'PmtMtd'),
    without(/<ReqdExctnDt>.*<\/ReqdExctnDt>/, payment, 'ReqdExctnDt'),
    without(/<Dbtr>.*?<\/Dbtr>/s, payment, 'Dbtr'),
    without(/(?<=<Dbtr>\s*)<Nm>[^<]*<\/Nm>/, `${payment}/Dbtr`, 'Nm'),
    without(/<DbtrAcct>.*?<\/DbtrAcct>/, payment, 'DbtrAcct'),
    without(/<DbtrAgt>.*?<\/DbtrAgt>/, payment, 'DbtrAgt'),
    without('<EndToEndId>INVOICE-1</EndToEndId>', `${transfer}/PmtId`, 'EndToEndId'),
    without(/<Cdtr>.*?<\/Cdtr>/s, transfer, 'Cdtr/Nm'),
    without('<Nm>Creditor 1</Nm>', `${transfer}/Cdtr`, 'Nm'),
    without(`<IBAN>${french}</IBAN>`, `${transfer}/CdtrAcct/Id`, 'IBAN'),
    without(/<ReqdColltnDt>.*<\/ReqdColltnDt>/, payment, 'ReqdColltnDt', 'pain.008.001.08'),
    without('<MndtId>MANDATE-1</MndtId>', `${debit}/DrctDbtTx/MndtRltdInf`, 'MndtId', 'pain.008.001.08'),
    without('<DtOfSgntr>2024-02-29</DtOfSgntr>', `${debit}/DrctDbtTx/MndtRltdInf`, 'DtOfSgntr', 'pain.008.001.02'),
    without('<SeqTp>RCUR</SeqTp>', `${payment}/PmtTpInf`, 'SeqTp', 'pain.008.001.02'),
    without('<SvcLvl><Cd>SEPA</Cd></SvcLvl>', `${payment}/PmtTpInf`, 'SvcLvl', 'pain.008.001.08'),
    without(
      '<SchmeNm><Prtry>SEPA</Prtry></SchmeNm>',
      `${payment}/CdtrSchmeId/Id/PrvtId/Othr`,
      'SchmeNm/Prtry',
      'pain.008.001.08',
    ),
    without('<LclInstrm><Cd>CORE</Cd></LclInstrm>', `${payment}/PmtTpInf`, 'LclInstrm', 'pain.008.001.02'),
    without(/<CdtrSchmeId>.*?<\/CdtrSchmeId>/s, payment, 'CdtrSchmeId', 'pain.008.001.08'),
    without(/<Nm>[^<]*<\/Nm>(?=<\/Cdtr>)/, `${payment}/Cdtr`, 'Nm', 'pain.008.001.02'),
    without('<Nm>Debtor 1</Nm>', `${debit}/Dbtr`, 'Nm', 'pain.008.001.02'),
    without(/<DbtrAgt>.*?<\/DbtrAgt>/, debit, 'DbtrAgt', 'pain.008.001.02'),
  ],
  ELEMENT_NOT_EXPECTED: [
    {
      change: [['<ChrgBr>', '<Colour>red</Colour><ChrgBr>']],
      at: `${payment}/Colour`,
      message: /^Colour is not an element of PmtInf in pain\.001\.001\.09, which has PmtInfId, PmtMtd, /,
    },
    {
      change: [['>INVOICE-1<', '><Id>INVOICE-1</Id><']],
      at: `${transfer}/PmtId/EndToEndId/Id`,
      message: /which has a text only\.$/,
    },
    {
      change: [
        ['<Othr><Id>NOTPROVIDED</Id></Othr>', '<Othr><Id>NOTPROVIDED</Id><x:Nm xmlns:x="urn:x">A</x:Nm></Othr>'],
      ],
      at: `${transfer}/CdtrAgt/FinInstnId/Othr`,
      message: /^x:Nm in Othr is in another namespace than the message\./,
    },
    {
      change: [['<Cd>SEPA</Cd>', '<Cd>SEPA</Cd><Prtry>SEPA</Prtry>']],
      at: `${payment}/PmtTpInf/SvcLvl/Prtry`,
      message: /^SvcLvl must have only one of Cd, Prtry\.$/,
    },
  ],
  ELEMENT_ORDER: [
    {
      change: [[/(<PmtInfId>PAYMENT-1<\/PmtInfId>\s*)(<PmtMtd>TRF<\/PmtMtd>)/, '$2$1']],
      at: `${payment}/PmtInfId`,
      message: /^PmtInfId must be before PmtMtd in PmtInf\.$/,
    },
    {
      change: [[/(<ChrgBr>SLEV<\/ChrgBr>)(.*?)(?=<\/PmtInf>)/s, '$2$1']],
      at: `${payment}/ChrgBr`,
      message: /^ChrgBr must be before CdtTrfTxInf/,
    },
  ],
  ELEMENT_REPEATED: [
    {
      change: [['<PmtMtd>TRF</PmtMtd>', '<PmtMtd>TRF</PmtMtd><PmtMtd>TRF</PmtMtd><PmtMtd>TRF</PmtMtd>']],
      at: `${payment}/PmtMtd[2]`,
      message: /^PmtMtd is given more than once in PmtInf\./,
    },
    {
      change: [['<Amt>', '<PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf><Amt>']],
      ...{ at: `${transfer}/PmtTpInf`, message: /^PmtTpInf is in the payment, too\./ },
    },
  ],
  ATTRIBUTE_NOT_EXPECTED: [
    { change: [['<PmtMtd>', '<PmtMtd kind="x">']], at: `${payment}/PmtMtd` },
    { change: [['<PmtMtd>', '<PmtMtd Ccy="EUR">']], at: `${payment}/PmtMtd` },
  ],
  TEXT_NOT_EXPECTED: [{ change: [['<ChrgBr>', 'text<ChrgBr>']], at: payment }],
  WRONG_VALUE: [
    {
      change: [['>SLEV<', '>SLEV <']],
      at: `${payment}/ChrgBr`,
      message: /^ChrgBr must be DEBT, CRED, SHAR or SLEV\.$/,
    },
    {
      change: [['<NbOfTxs>2<', '<BtchBookg>yes</BtchBookg><NbOfTxs>2<']],
      at: `${payment}/BtchBookg`,
      message: /^BtchBookg must be true or false\.$/,
    },
    {
      change: [['<EndToEndId>INVOICE-1</EndToEndId>', '<EndToEndId>INVOICE-1</EndToEndId><UETR>1</UETR>']],
      at: `${transfer}/PmtId/UETR`,
    },
  ],
  EMPTY_ELEMENT: [
    { change: [['>INVOICE-1<', '> <']], at: `${transfer}/PmtId/EndToEndId` },
    { change: [['Main Street', '']], at: `${address}/StrtNm` },
    { change: [[frenchElement, '']], at: `${transfer}/CdtrAcct/Id/IBAN` },
    { ...directDebit, change: [['2024-02-29', '']], at: `${debit}/DrctDbtTx/MndtRltdInf/DtOfSgntr` },
  ],
  TEXT_TOO_LONG: [
    {
      change: [['INSTRUCTION-1', '123456789-'.repeat(4)]],
      at: `${transfer}/PmtId/InstrId`,
      message: /^InstrId has 40 characters\. At most 35 are allowed\.$/,
    },
    { change: [['Creditor 1', 'Creditor '.repeat(16)]], at: `${transfer}/Cdtr/Nm` },
    { change: [['3, rue de la Plume', 'rue '.repeat(18)]], at: `${transfer}/Cdtr/PstlAdr/StrtNm` },
  ],
  NAME_OVER_70: [{ change: [['Creditor 1', 'Creditor '.repeat(8)]], at: `${transfer}/Cdtr/Nm` }],
  CHARACTERS_NOT_SEPA: [
    {
      change: [['Creditor 1', 'Müller &amp; Göthe\t']],
      at: `${transfer}/Cdtr/Nm`,
      message: /^Nm has characters outside the SEPA set: ü & ö U\+0009\./,
      suggestion: 'Muller + Gothe', // cspell:disable-line
    },
    {
      ...directDebit,
      change: [['Invoice 1, nibs and ink', '<![CDATA[5 € <for> ink]]>']],
      at: `${debit}/RmtInf/Ustrd`,
      suggestion: '5 E .for. ink',
    },
  ],
  SLASHES_IN_REFERENCE: [
    { change: [['INVOICE-1', '/INV//1/']], at: `${transfer}/PmtId/EndToEndId`, suggestion: 'INV/1' },
  ],
  WRONG_CODE: [
    { change: [['>TRF<', '>trf<']], at: `${payment}/PmtMtd`, suggestion: 'TRF' },
    { change: [['>TRF<', '>CHK<']], at: `${payment}/PmtMtd`, suggestion: 'TRF' },
    { ...directDebit, change: [['>DD<', '>TRF<']], at: `${payment}/PmtMtd`, suggestion: 'DD' },
    { ...directDebit, change: [['CORE', 'COR1']], at: `${payment}/PmtTpInf/LclInstrm/Cd`, message: /CORE or B2B/ },
    { ...directDebit, change: [['RCUR', 'RPRE']], at: `${payment}/PmtTpInf/SeqTp` },
    {
      ...directDebit,
      change: [['<Prtry>SEPA', '<Prtry>sepa']],
      at: `${payment}/CdtrSchmeId/Id/PrvtId/Othr/SchmeNm/Prtry`,
      suggestion: 'SEPA',
    },
  ],
  WRONG_NUMBER: [
    { change: [['<NbOfTxs>3<', '<NbOfTxs>three<']], at: 'GrpHdr/NbOfTxs', suggestion: '3' },
    { change: [['>1112.35<', '>1.112,35<']], at: 'GrpHdr/CtrlSum', suggestion: '1112.35' },
  ],
  TRANSACTION_COUNT_MISMATCH: [
    {
      change: [['<NbOfTxs>3<', '<NbOfTxs>4<']],
      at: 'GrpHdr/NbOfTxs',
      suggestion: '3',
      message: /^NbOfTxs is 4, but there are 3 transactions\.$/,
    },
    { change: [['<NbOfTxs>1<', '<NbOfTxs>3<']], at: 'PmtInf[2]/NbOfTxs', suggestion: '1' },
  ],
  CONTROL_SUM_MISMATCH: [
    {
      change: [['>1112.35<', '>1112.36<']],
      at: 'GrpHdr/CtrlSum',
      suggestion: '1112.35',
      message: /^CtrlSum is 1112\.36, but the sum of the amounts is 1112\.35\.$/,
    },
    { ...directDebit, change: [['>112.35<', '>112.349<']], at: `${payment}/CtrlSum`, suggestion: '112.35' },
  ],
  CONTROL_SUM_MISSING: [{ change: [['<CtrlSum>1112.35</CtrlSum>', '']], at: 'GrpHdr/NbOfTxs' }],
  DUPLICATE_MESSAGE_ID: [{ change: [], at: 'GrpHdr/MsgId', options: { messageIds: new Set(['MESSAGE-1']) } }],
  DUPLICATE_PAYMENT_ID: [
    { change: [['PAYMENT-2', 'PAYMENT-1']], at: 'PmtInf[2]/PmtInfId', message: /^PmtInfId is that in line 12\./ },
  ],
  DUPLICATE_END_TO_END_ID: [
    {
      change: [['<EndToEndId>INVOICE-2', '<EndToEndId>INVOICE-1']],
      at: `${payment}/CdtTrfTxInf[2]/PmtId/EndToEndId`,
      message: /^EndToEndId is that in line 25\./,
    },
  ],
  DUPLICATE_PAYMENT: [
    {
      // With references of their own, but the text that the creditor reads.
      change: [
        ['1000.00', '12.35'],
        ['Invoice 3', 'Invoice 1'],
        ['>1000<', '>12.35<'],
        ['1112.35', '124.70'],
      ],
      at: 'PmtInf[2]/CdtTrfTxInf[1]',
      message: /of that in line 24\. Send it once/,
    },
    {
      // Without any reference.
      change: [
        [/<EndToEndId>INVOICE-[123]/g, '<EndToEndId>NOTPROVIDED'],
        [/<RmtInf>.*?<\/RmtInf>/g, ''],
        ['1000.00', '12.35'],
        ['>1000<', '>12.35<'],
        ['1112.35', '124.70'],
      ],
      at: 'PmtInf[2]/CdtTrfTxInf[1]',
    },
    {
      // With the same reference, in another notation of the IBAN and the amount.
      ...directDebit,
      change: [
        ['1000.00', '012.35'],
        ['>1000<', '>12.35<'],
        ['1112.35', '124.70'],
        ['<EndToEndId>INVOICE-3', '<EndToEndId>INVOICE-1'],
        [/(?<=MANDATE-3.*?<IBAN>)FR14/s, 'fr14'],
      ],
      at: 'PmtInf[2]/DrctDbtTxInf[1]',
      others: ['DUPLICATE_END_TO_END_ID', 'IBAN_NOT_COMPACT'],
    },
  ],
  IBAN_NOT_COMPACT: [
    {
      ...withIban('FR14 2004 1010 0505 0001 3M02 606'),
      suggestion: french,
      message: /^The IBAN FR14 \*\*\*\* \*\*\*\* \*\*\*\* \*\*\*\* \*\*\*2 606 is written with spaces/,
    },
  ],
  EMPTY: [{ ...withIban('-'), others: ['IBAN_NOT_COMPACT'] }],
  ILLEGAL_CHARACTERS: [{ ...withIban('FR14200410100505000Ф13M02606'), suggestion: french }],
  UNKNOWN_COUNTRY: [withIban('XX1420041010050500013M02606')],
  NOT_REGISTERED: [withIban('MA64011519000001205000534921')],
  TOO_SHORT: [
    {
      ...withIban('FR142004101005050001M02606'),
      message: /An IBAN of FR has 27 characters; this one has 26\.$/,
    },
  ],
  TOO_LONG: [
    {
      ...withIban('FR1420041010050500013M0260666'),
      suggestion: french,
      message: /An IBAN of FR has 27 characters; this one has 29\.$/,
    },
  ],
  WRONG_STRUCTURE: [{ ...withIban('FR14X0041010050500013M02606'), suggestion: french }],
  CHECK_DIGITS_OUT_OF_RANGE: [withIban('FR0020041010050500013M02606')],
  WRONG_CHECK_DIGITS: [
    { ...withIban('FR1420041010050500013M02660'), message: /The check digits do not match the rest of the IBAN\.$/ },
    {
      // Of several candidates, the one of a bank that is known.
      ...withIban('DE89370400440532013001'),
      suggestion: 'DE89370400440532013000',
      others: ['PAYEE_BANK_OTHER'],
      options: { banks: { has: (country, bankCode) => country === 'DE' && bankCode === '37040044' } },
    },
  ],
  NATIONAL_CHECK_FAILED: [
    withIban(`FR${calcCheckDigits('FR', wrongKey)}${wrongKey}`),
    {
      // The bank says how the check digit of its account numbers is computed.
      change: [['DE89370400440532013000', `DE${calcCheckDigits('DE', '370400440532013001')}370400440532013001`]],
      at: `${payment}/DbtrAcct/Id/IBAN`,
      options: { banks: { accountCheckMethod: (bankCode) => (bankCode === '37040044' ? '00' : null) } },
    },
  ],
  IBAN_OUTSIDE_SEPA: [{ ...withIban('TR330006100519786457841326'), message: /^TR, the country/ }],
  REJECTED_BY_SERVICE: [
    {
      ...withAnswer({ ...validAnswer, valid: false }),
      at: `${transfer}/CdtrAcct/Id/IBAN`,
      others: ['REJECTED_BY_SERVICE'],
    },
  ],
  SERVICE_FAILED: [
    {
      ...withAnswer({ kind: 'failed', code: 'UPSTREAM_TIMED_OUT' }),
      at: `${transfer}/CdtrAcct/Id/IBAN`,
      message: /the service failed \(UPSTREAM_TIMED_OUT\)/,
    },
  ],
  NOT_CHECKED: [
    {
      ...withAnswer({ kind: 'not-asked', reason: '--max-calls is reached' }),
      at: `${transfer}/CdtrAcct/Id/IBAN`,
      message: /was not asked: --max-calls is reached\.$/,
    },
  ],
  BIC_ILLEGAL_CHARACTERS: [{ ...bicOf('coba de ff'), suggestion: 'COBADEFF' }],
  BIC_WRONG_LENGTH: [{ ...bicOf('COBADEFFX', 'pain.001.001.03'), message: /this one has 9\.$/ }],
  BIC_UNKNOWN_COUNTRY: [bicOf('COBAZZFF', 'pain.008.001.02')].map((each) => ({
    ...each,
    at: `${payment}/CdtrAgt/FinInstnId/BIC`,
  })),
  BIC_NOT_PROVIDED: [bicOf('NOTPROVIDED')],
  BIC_FOR_TESTS: [bicOf('COBADEF0')],
  BIC_OF_OTHER_BANK: [
    {
      change: [['<BICFI>COBADEFFXXX', '<BICFI>DEUTDEFF']],
      at: `${payment}/DbtrAgt/FinInstnId/BICFI`,
      suggestion: 'COBADEFFXXX',
      options: { answer: async () => ({ ...validAnswer, bic: 'COBADEFFXXX' }) },
    },
    {
      // The bank lists are enough.
      change: [['<BICFI>COBADEFFXXX', '<BICFI>DEUTDEFF']],
      at: `${payment}/DbtrAgt/FinInstnId/BICFI`,
      suggestion: 'COBADEFFXXX',
      options: { banks: { bics: (country) => (country === 'DE' ? ['COBADEFFXXX'] : []) } },
    },
  ],
  COUNTRY_INVALID: [
    { change: [['<Ctry>FR', '<Ctry>fr']], at: `${transfer}/Cdtr/PstlAdr/Ctry`, suggestion: 'FR' },
    { change: [['<Ctry>DE', '<Ctry>Germany']], at: `${address}/Ctry` },
  ],
  ADDRESS_UNSTRUCTURED: [
    { ...withAddress('<AdrLine>Main Street 1</AdrLine><AdrLine>60311 Frankfurt</AdrLine>'), at: address },
  ],
  ADDRESS_WITHOUT_TOWN: [
    { ...withAddress('<Ctry>DE</Ctry>'), at: address },
    { ...withAddress(''), at: address, others: ['ADDRESS_WITHOUT_COUNTRY'] },
    {
      ...withAddress('<AdrTp><Cd>BIZZ</Cd></AdrTp><Ctry>DE</Ctry><AdrLine>Frankfurt</AdrLine>'),
      at: address,
    },
  ],
  ADDRESS_WITHOUT_COUNTRY: [{ ...withAddress('<TwnNm>Frankfurt</TwnNm>'), at: address }],
  ADDRESS_LINES: [
    {
      ...withAddress(
        '<TwnNm>Frankfurt</TwnNm><Ctry>DE</Ctry><AdrLine>1</AdrLine><AdrLine>2</AdrLine><AdrLine>3</AdrLine>',
      ),
      at: `${address}/AdrLine[3]`,
      others: ['ADDRESS_HYBRID'],
    },
  ],
  CURRENCY_INVALID: [
    { change: [['Ccy="EUR">12.35', 'Ccy="eur">12.35']], at: amount, suggestion: 'EUR' },
    { change: [[' Ccy="EUR">12.35', '>12.35']], at: amount },
    ...['HRK', 'BGN', 'ANG', 'DEM'].map((currency) => ({
      ...{ change: [['Ccy="EUR">12.35', `Ccy="${currency}">12.35`]] as const, at: amount },
      message: new RegExp(`^The currency ${currency} has ended\\. Write the amount in (EUR|XCG), `),
    })),
  ],
  CURRENCY_NOT_EUR: [{ change: [['Ccy="EUR">12.35', 'Ccy="CHF">12.35']], at: amount, suggestion: 'EUR' }],
  AMOUNT_FORMAT: [
    { ...withAmount('1.234,5'), suggestion: '1234.50' },
    { ...withAmount('12.350'), suggestion: '12.35' },
    withAmount('12.345'),
    withAmount('-12.35'),
    withAmount('1e3'),
    withAmount('12.35 EUR'),
    ...['XCD', 'CHF'].map((currency) => ({
      ...withAmount('12.345'),
      change: [...withAmount('12.345').change, ['Ccy="EUR">12.345', `Ccy="${currency}">12.345`] as const],
      message: new RegExp(`^The amount in ${currency} must be a positive number with at most 2 decimals`),
      ...{ options: { profile: 'iso' as const }, others: [] },
    })),
  ],
  AMOUNT_OUT_OF_RANGE: [withAmount('0.00'), withAmount('1000000000.00')],
  DATE_FORMAT: [
    { change: [['2026-11-26T09:30:00', '2026-11-26T09:30:00+15:00']], at: 'GrpHdr/CreDtTm' },
    { change: [['2026-11-26T09:30:00', '26.11.2026']], at: 'GrpHdr/CreDtTm' },
    { change: [['<Dt>2026-11-30', '<Dt>2026-02-30']], at: executionDate },
    {
      change: [[/<Dt>.*?<\/Dt>/, '<DtTm>2026-11-30T25:00:00</DtTm>']],
      at: `${payment}/ReqdExctnDt/DtTm`,
    },
    { ...directDebit, change: [['2024-02-29', '2023-02-29']], at: `${debit}/DrctDbtTx/MndtRltdInf/DtOfSgntr` },
  ],
  EXECUTION_DATE_PAST: [
    { change: [['<Dt>2026-11-30', '<Dt>2026-11-25']], at: executionDate },
    { ...directDebit, change: [['>2026-11-30', '>2026-11-25']], at: `${payment}/ReqdColltnDt` },
  ],
  EXECUTION_DATE_NO_BUSINESS_DAY: [
    { change: [['<Dt>2026-11-30', '<Dt>2026-11-28']], at: executionDate },
    { change: [['<Dt>2026-11-30', '<Dt>2027-03-26']], at: executionDate },
  ],
  SIGNATURE_DATE_IN_FUTURE: [
    { ...directDebit, change: [['2024-02-29', '2026-11-27']], at: `${debit}/DrctDbtTx/MndtRltdInf/DtOfSgntr` },
  ],
  CREDITOR_ID_INVALID: [
    {
      ...{ ...directDebit, at: `${debit}/DrctDbtTx/MndtRltdInf/AmdmntInfDtls/OrgnlCdtrSchmeId/Id/PrvtId/Othr/Id` },
      change: [
        [
          '</DtOfSgntr>',
          '</DtOfSgntr><AmdmntInd>true</AmdmntInd><AmdmntInfDtls><OrgnlCdtrSchmeId><Id><PrvtId><Othr><Id>DE89ZZZ09999999999</Id><SchmeNm><Prtry>SEPA</Prtry></SchmeNm></Othr></PrvtId></Id></OrgnlCdtrSchmeId></AmdmntInfDtls>',
        ],
      ],
    },
    {
      ...directDebit,
      change: [['DE98ZZZ', 'DE89ZZZ']],
      at: `${payment}/CdtrSchmeId/Id/PrvtId/Othr/Id`,
      message: /Its check digits do not match\.$/,
    },
  ],
  CHARGE_BEARER_NOT_SLEV: [{ change: [['<ChrgBr>SLEV', '<ChrgBr>SHAR']], at: `${payment}/ChrgBr`, suggestion: 'SLEV' }],
  REMITTANCE_TOO_LONG: [
    {
      change: [['Invoice 1, nibs and ink', 'ink '.repeat(36)]],
      at: `${transfer}/RmtInf/Ustrd`,
      message: /144 characters/,
    },
  ],
  REMITTANCE_REPEATED: [
    { change: [[/<Ustrd>Invoice 1/, '<Ustrd>Nibs</Ustrd><Ustrd>Invoice 1']], at: `${transfer}/RmtInf/Ustrd[2]` },
  ],
};

Object.assign(cases, {
  VERSION_ENDS: [
    {
      version: 'pain.001.001.03',
      change: [[/2026-11-30/g, '2026-11-13']],
      at: '',
      options: { today: '2026-11-12' },
      message: /^German banks do not accept pain\.001\.001\.03 from 2026-11-14\./,
    },
  ],
  VERSION_ENDED: [
    {
      // The day of the payment decides.
      version: 'pain.001.001.03',
      change: [],
      at: '',
      options: { today: '2026-11-12' },
    },
    {
      ...{ version: 'pain.008.001.02', at: '', message: /^Swiss banks do not accept pain\.008\.001\.02 from / },
      change: [[/DE89370400440532013000/g, 'CH9300762011623852957']],
      others: ['ADDRESS_REQUIRED', 'ADDRESS_REQUIRED', 'ADDRESS_REQUIRED'],
    },
  ],
  SERVICE_LEVEL_UNKNOWN: [
    { change: [['<Cd>SEPA', '<Cd>Sepa']], at: `${payment}/PmtTpInf/SvcLvl/Cd`, suggestion: 'SEPA' },
    {
      // The payment is judged by its currency and accounts.
      change: [
        ['<Cd>SEPA', '<Cd>SEPB'],
        ['SLEV', 'SHAR'],
      ], // cspell:disable-line
      ...{ at: `${payment}/PmtTpInf/SvcLvl/Cd`, others: ['CHARGE_BEARER_NOT_SLEV'] },
    },
  ],
  ADDRESS_REQUIRED: [
    {
      change: [
        [/<PstlAdr>.*?<\/PstlAdr>/, ''],
        ['NL91ABNA0417164300', 'GB29NWBK60161331926819'],
      ],
      ...{ at: `${payment}/Dbtr`, message: /from or to GB, outside the EEA/ },
    },
  ],
  LEI_CHECK_DIGITS: [
    {
      change: [
        ['</Nm></InitgPty>', '</Nm><Id><OrgId><LEI>529900T8BM49AURSDO56</LEI></OrgId></Id></InitgPty>'], // cspell:disable-line
      ],
      at: 'GrpHdr/InitgPty/Id/OrgId/LEI',
    },
  ],
  QR_IBAN: [
    {
      change: [['DE89370400440532013000', 'CH4431999123000889012']],
      ...{ at: `${payment}/DbtrAcct/Id/IBAN`, message: /^A QR-IBAN only receives payments\./ },
    },
    {
      ...withIban('CH4431999123000889012'),
      change: [
        [frenchElement, 'CH4431999123000889012'],
        ['Ccy="EUR">12.35', 'Ccy="USD">12.35'],
        [/<Ustrd>.*?<\/Ustrd>/, structured('<Prtry>QRR</Prtry>', '210000000003139471430009017')],
      ],
      ...{ message: /^A QR-IBAN receives CHF and EUR, not USD\./, options: { profile: 'iso' } },
    },
  ],
  REFERENCE_NOT_COMPACT: [
    {
      change: [[/<Ustrd>.*?<\/Ustrd>/, structured('<Cd>SCOR</Cd>', 'rf18 5390 0754 7034')]],
      ...{ at: `${transfer}/RmtInf/Strd/CdtrRefInf/Ref`, suggestion: 'RF18539007547034' },
    },
  ],
  ADDRESS_HYBRID: [
    {
      ...withAddress('<TwnNm>Frankfurt</TwnNm><Ctry>DE</Ctry><AdrLine>Main Street</AdrLine>'),
      ...{ at: address, message: /^1 address with AdrLine/ },
    },
  ],
  CHARACTERS_CONVERTED: [
    {
      // Between two German accounts.
      change: [
        withoutBanks,
        [/FR1420041010050500013M02606(?=.*NL91)/s, 'DE44500105175407324931'],
        ['Creditor 1', 'Müller &amp; Co'],
      ],
      ...{ at: `${transfer}/Cdtr/Nm`, message: /^1 text with characters such as ä or &/ },
    },
    {
      change: [withoutBanks, ['Creditor 1', 'Müller &amp; Co'], ['Creditor 2', 'Göthe']],
      ...{ at: `${transfer}/Cdtr/Nm`, options: { profile: 'dk' }, message: /^2 texts with characters such as ä or &/ },
    },
  ],
  CHARACTERS_NOT_SWISS: [
    {
      change: [['Creditor 1', 'Müller Елена']],
      ...{
        at: `${transfer}/Cdtr/Nm`,
        options: { profile: 'sps' },
        message: /outside the Swiss set: Е л е н а\./,
        suggestion: 'Müller Elena',
      },
    },
  ],
  INSTITUTION_OTHER: [
    {
      change: [['<Othr><Id>NOTPROVIDED</Id></Othr>', '<Nm>A bank</Nm><Othr><Id>37040044</Id></Othr>']],
      at: `${transfer}/CdtrAgt/FinInstnId/Othr/Id`,
    },
  ],
  DUPLICATE_UETR: [
    {
      change: [[/<\/EndToEndId>/g, '</EndToEndId><UETR>8a562c67-ca16-48ba-b074-65581be6f001</UETR>']],
      at: `${payment}/CdtTrfTxInf[2]/PmtId/UETR`,
      message: /^UETR is that in line 25\./,
      others: ['DUPLICATE_UETR'],
    },
  ],
  EXTERNAL_CODE_UNKNOWN: [
    {
      change: [['</SvcLvl>', '</SvcLvl><LclInstrm><Cd>inst</Cd></LclInstrm>']],
      ...{ at: `${payment}/PmtTpInf/LclInstrm/Cd`, suggestion: 'INST' },
    },
    {
      change: [['</SvcLvl>', '</SvcLvl><CtgyPurp><Cd>SLRY</Cd></CtgyPurp>']], // cspell:disable-line
      ...{ at: `${payment}/PmtTpInf/CtgyPurp/Cd`, message: /^CtgyPurp\/Cd is not in the list of ISO 20022/ },
    },
  ],
  CODE_REQUIRED: [
    {
      change: [['<RmtInf>', '<Purp><Prtry>Salary</Prtry></Purp><RmtInf>']],
      ...{ at: `${transfer}/Purp/Prtry`, message: /^Purp of a SEPA payment must be a code, such as SALA, in Cd\./ },
    },
    {
      ...directDebit,
      change: [['<Cd>CORE</Cd>', '<Prtry>CORE</Prtry>']],
      at: `${payment}/PmtTpInf/LclInstrm/Prtry`,
    },
  ],
  INSTITUTION_EMPTY: [
    {
      change: [['<Othr><Id>NOTPROVIDED</Id></Othr>', '<Nm>A bank</Nm>']],
      ...{ at: `${transfer}/CdtrAgt/FinInstnId`, message: /^FinInstnId has only a name or address\./ },
    },
    { change: [['<Othr><Id>NOTPROVIDED</Id></Othr>', '']], at: `${transfer}/CdtrAgt/FinInstnId` },
  ],
  INSTITUTION_MISSING: [
    {
      change: [['<Othr><Id>NOTPROVIDED</Id></Othr>', ''], withoutBanks],
      ...{ at: `${transfer}/CdtrAgt/FinInstnId`, options: { profile: 'dk' } },
    },
  ],
  PAYEE_BANK_OTHER: [
    {
      change: [[/<\/CdtrAgt>(.*)<CdtrAgt>.*?<\/CdtrAgt>(.*)<CdtrAgt>.*?<\/CdtrAgt>/s, '</CdtrAgt>$1$2']],
      ...{ at: `${transfer}/CdtrAgt/FinInstnId/Othr`, options: { profile: 'dk' } },
    },
  ],
  NOT_IN_SCHEME: [
    {
      change: [],
      ...{ at: `${transfer}/CdtrAcct/Id/IBAN`, message: /in SEPA Credit Transfer, by the register of 2026-11-21\.$/ },
      others: ['NOT_IN_SCHEME'],
      options: {
        banks: {
          bics: (country) => (country === 'FR' ? ['PSSTFRPPPAR'] : []),
          schemes: () => [
            { scheme: 'SCT', takesPart: false, since: null, until: null, registerDate: '2026-11-21' },
            { scheme: 'SCT_INST', takesPart: true, since: null, until: null, registerDate: '2026-11-21' },
          ],
        },
      },
    },
  ],
  VERIFICATION_NOT_OFFERED: [
    {
      change: [],
      ...{
        at: `${transfer}/CdtrAcct/Id/IBAN`,
        message: /in Verification of Payee, by the register of 2026-11-21\. The/,
      },
      others: ['VERIFICATION_NOT_OFFERED'],
      options: {
        banks: {
          bics: (country) => (country === 'FR' ? ['PSSTFRPPPAR'] : []),
          schemes: () => [
            { scheme: 'SCT', takesPart: true, since: null, until: null, registerDate: '2026-11-21' },
            { scheme: 'VOP', takesPart: false, since: null, until: null, registerDate: '2026-11-21' },
          ],
        },
      },
    },
  ],
  PAYEE_VERIFICATION: [
    {
      change: [
        [/<CdtTrfTxInf>(?:(?!<CdtTrfTxInf>).)*INVOICE-2.*?<\/CdtTrfTxInf>/s, ''],
        [/<PmtInf>(?:(?!<PmtInf>).)*PAYMENT-2.*<\/PmtInf>/s, ''],
        ['<NbOfTxs>3<', '<NbOfTxs>1<'],
        ['<NbOfTxs>2<', '<NbOfTxs>1<'],
        ['>1112.35<', '>12.35<'],
        ['>112.35<', '>12.35<'],
      ],
      at: 'GrpHdr',
    },
  ],
  PURPOSE_FORMAT: [
    {
      change: [['<RmtInf>', '<Purp><Cd>sala</Cd></Purp><RmtInf>']],
      ...{ at: `${transfer}/Purp/Cd`, suggestion: 'SALA' },
    },
    { change: [['<RmtInf>', '<Purp><Cd>QQQQ</Cd></Purp><RmtInf>']], at: `${transfer}/Purp/Cd` },
  ],
  REFERENCE_CHECK_DIGITS: [
    {
      change: [[/<Ustrd>.*?<\/Ustrd>/, structured('<Cd>SCOR</Cd>', 'RF19539007547034')]],
      ...{ at: `${transfer}/RmtInf/Strd/CdtrRefInf/Ref`, message: /RF reference/ },
    },
    {
      change: [
        [/<Ustrd>.*?<\/Ustrd>/, structured('<Cd>SCOR</Cd>', '090933755494').replace('</Tp>', '<Issr>BBA</Issr></Tp>')],
      ],
      ...{ at: `${transfer}/RmtInf/Strd/CdtrRefInf/Ref`, message: /Belgian structured communication/ },
    },
    {
      change: [[/<Ustrd>.*?<\/Ustrd>/, '<Ustrd>+++090/9337/55494+++</Ustrd>']],
      ...{ at: `${transfer}/RmtInf/Ustrd`, message: /Belgian structured communication/ },
    },
    {
      ...withIban('CH4431999123000889012'),
      change: [
        [frenchElement, 'CH4431999123000889012'],
        [/<Ustrd>.*?<\/Ustrd>/, structured('<Prtry>QRR</Prtry>', '210000000003139471430009018')],
      ],
      at: `${transfer}/RmtInf/Strd/CdtrRefInf/Ref`,
      message: /^A QR reference must have 27 digits/,
    },
  ],
  QR_REFERENCE: [
    { ...withIban('CH4431999123000889012'), message: /^A QR-IBAN needs a QR reference/ },
    {
      change: [[/<Ustrd>.*?<\/Ustrd>/, structured('<Prtry>QRR</Prtry>', '210000000003139471430009017')]],
      ...{ at: `${transfer}/RmtInf/Strd/CdtrRefInf/Ref`, message: /needs a QR-IBAN\./ },
    },
  ],
  AMENDMENT_MISSING: [
    {
      ...{ ...directDebit, change: [['</DtOfSgntr>', '</DtOfSgntr><AmdmntInd>true</AmdmntInd>']] },
      at: `${debit}/DrctDbtTx/MndtRltdInf/AmdmntInd`,
    },
  ],
  AMENDMENT_NOT_INDICATED: [
    {
      ...{ ...directDebit, change: [['</DtOfSgntr>', `</DtOfSgntr>${amendment}`]] },
      at: `${debit}/DrctDbtTx/MndtRltdInf/AmdmntInfDtls`,
    },
  ],
} satisfies typeof cases);

describe('a case', () => {
  const all = Object.entries(cases).flatMap(([code, list]) =>
    list.map((each, index) => ({ ...each, code: code as RuleCode, name: `${code} ${index + 1}` })),
  );

  it.each(all)('$name', async ({ code, version = 'pain.001.001.09', change, at, options, ...expected }) => {
    let message = rightMessage(version);
    for (const [from, to] of change) {
      expect(message).toMatch(from);
      message = message.replace(from, to);
    }
    const root = version.startsWith('pain.001') ? 'CstmrCdtTrfInitn' : 'CstmrDrctDbtInitn';
    const xpath = `/Document/${root}${at === '' ? '' : '/'}${at}`;
    const { findings } = await findAllIn(message, options);

    const found = findings.find((finding) => finding.code === code);
    expect(found).toEqual({
      code,
      severity: rules[code].severity,
      place: { line: lineOf(message, xpath), xpath },
      message: expect.stringMatching(expected.message ?? /^[A-Z].*\.$/),
      suggestion: expected.suggestion ?? null,
    });
    const codes = (code.startsWith('VERSION_END') ? findings : withoutVersionEnd(findings)).map(
      (finding) => finding.code,
    );
    expect(codes.toSorted()).toEqual([code, ...(expected.others ?? [])].toSorted());
    for (const finding of findings)
      expect(finding.message).not.toMatch(/[A-Z]{2}\d\d ?[A-Z0-9]{4} ?[A-Z0-9]{4} ?[A-Z0-9]{3}/);
  });
});

it('each code of the table has a case, or one in status-report.test.ts', () => {
  const reported = Object.keys(rules).filter((code) => /^(?:REPORT|BANK|PAYEE)_(?!VERIFICATION)/.test(code));
  const covered = [...Object.keys(cases), ...refusedFiles.map(({ code }) => code), ...reported];
  expect([...new Set(covered)].toSorted()).toEqual(Object.keys(rules).toSorted());
});
