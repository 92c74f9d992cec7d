import { describe, expect, it } from 'vitest';
import type { BankScheme } from '../../../src/banks/scheme-registers.ts';
import type { Answer } from '../../../src/check/answers/answers.ts';
import type { BankFacts } from '../../../src/check/bank-facts.ts';
import { type RuleCode, rules } from '../../../src/check/finding.ts';
import { calcCheckDigits } from '../../../src/iban/mod97.ts';
import {
  findAllIn,
  lineOf,
  rightMessage,
  type Version,
  validAnswer,
  withoutVersionEnd,
} from '../../support/check/pain-messages.ts';
import { refusedFiles } from '../../support/check/refused-files.ts';

/* Each case changes something in a right message, and has exactly one finding, unless it names others. */

type Change = readonly [from: string | RegExp, to: string];

interface Expected {
  version?: Version;
  suggestion?: string;
  message?: RegExp;
  /** Codes of findings that follow from the same mistake. */
  others?: readonly RuleCode[];
  options?: NonNullable<Parameters<typeof findAllIn>[1]>;
}

interface Case extends Expected {
  code: RuleCode;
  changes: readonly Change[];
  /** In the message in `Document`. */
  at: string;
}

/** @param change one, or several */
function of(code: RuleCode, change: Change | readonly Change[], at: string, expected: Expected = {}): Case {
  const isOne = typeof change[1] === 'string';
  return { code, changes: (isOne ? [change] : change) as readonly Change[], at, ...expected };
}

function inDebit(...[code, change, at, expected]: Parameters<typeof of>): Case {
  return of(code, change, at, { version: 'pain.008.001.02', ...expected });
}

const payment = 'PmtInf[1]';
const transfer = `${payment}/CdtTrfTxInf[1]`;
const debit = `${payment}/DrctDbtTxInf[1]`;
const mandate = `${debit}/DrctDbtTx/MndtRltdInf`;
const toFrench = `${transfer}/CdtrAcct/Id/IBAN`;
/** The bank of the French IBAN, in schemes by the register. */
const frenchBank = (schemes: Partial<Record<BankScheme['scheme'], boolean>>): Partial<BankFacts> => ({
  bics: (country) => (country === 'FR' ? ['PSSTFRPPPAR'] : []),
  schemes: () =>
    Object.entries(schemes).map(([scheme, takesPart]) => ({
      scheme: scheme as BankScheme['scheme'],
      takesPart,
      since: null,
      until: null,
      registerDate: '2026-11-21',
    })),
});
const creditorReference = `${transfer}/RmtInf/Strd/CdtrRefInf/Ref`;
const executionDate = `${payment}/ReqdExctnDt/Dt`;
const collectionDate = `${payment}/ReqdColltnDt`;
const address = `${payment}/Dbtr/PstlAdr`;
const amount = `${transfer}/Amt/InstdAmt`;
const ustrd = /<Ustrd>.*?<\/Ustrd>/;

/** The payments of a message, or the first one, are not SEPA. */
const urgent = ['<Cd>SEPA', '<Cd>URGP'] as const;
const allUrgent = [/<Cd>SEPA/g, '<Cd>URGP'] as const;
const ofSwissBank = [/DE89370400440532013000/g, 'CH9300762011623852957'] as const;
const toSwissBank = [/<IBAN>(?:FR|NL)[^<]*/g, '<IBAN>CH5604835012345678009'] as const;

/** Those of payees have no BIC, which German banks refuse. */
const withoutBanks = [/<CdtrAgt><FinInstnId><Othr>.*?<\/CdtrAgt>/g, ''] as const;

/** The first account of a creditor, once more in the third transaction. */
const french = 'FR1420041010050500013M02606';
const frenchElement = new RegExp(`(?<=<IBAN>)${french}`);
/** The last two digits of a French account number are its national check digits. */
const wrongKey = '20041010050500013M02607';

function withIban(code: RuleCode, iban: string, expected?: Expected): Case {
  return of(code, [frenchElement, iban], toFrench, expected);
}

function withAnswer(answer: Answer): NonNullable<Expected['options']> {
  return { answer: async (iban) => (iban === french ? answer : validAnswer) };
}

function bicOf(code: RuleCode, bic: string, expected?: Expected): Case {
  return of(code, ['COBADEFFXXX', bic], `${payment}/DbtrAgt/FinInstnId/BICFI`, expected);
}

function without(
  element: string | RegExp,
  parent: string,
  path: string,
  version: Version = 'pain.001.001.09',
  expected: Expected = {},
): Case {
  const name = parent.replace(/^.*\/|\[\d\]$/g, '').replace(/\[\d\]/, '');
  const message = new RegExp(`^${path} is missing in ${name}\\.`);
  return of('MISSING_ELEMENT', [element, ''], `${parent}/${path}`, { version, message, ...expected });
}

function withAddress(content: string): Change {
  return [/(?<=<PstlAdr>)<StrtNm>.*?(?=<\/PstlAdr>)/, content];
}

function withAmount(
  code: RuleCode,
  text: string,
  { currency, ...expected }: Expected & { currency?: string } = {},
): Case {
  const sums = ['<CtrlSum>1112.35</CtrlSum>', '<CtrlSum>112.35</CtrlSum>'].map((sum) => [sum, ''] as const);
  const inOther = currency === undefined ? [] : [[`Ccy="EUR">${text}`, `Ccy="${currency}">${text}`] as const];
  const expectedThen =
    currency === undefined ? { others: ['CONTROL_SUM_MISSING'] as const } : { options: { profile: 'iso' } as const };
  return of(code, [['>12.35<', `>${text}<`], ...sums, ...inOther], amount, { ...expectedThen, ...expected });
}

function structured(type: string, reference: string): string {
  return `<Strd><CdtrRefInf><Tp><CdOrPrtry>${type}</CdOrPrtry></Tp><Ref>${reference}</Ref></CdtrRefInf></Strd>`;
}

const amendment = '<AmdmntInfDtls><OrgnlMndtId>EARLIER-1</OrgnlMndtId></AmdmntInfDtls>';

const cases: readonly Case[] = [
  of('ENCODING_BROKEN', ['Creditor 1', 'K\uFFFDln'], `${transfer}/Cdtr/Nm`),
  of(
    'ELEMENT_OF_OTHER_VERSION',
    [
      [/(<\/?)BICFI(?=>COBA|>.*Agt>\s*<ChrgBr)/, '$1BIC'],
      [/BICFI(?=><\/FinInstnId>)/, 'BIC'],
    ],
    `${payment}/DbtrAgt/FinInstnId/BIC`,
    { message: /^BIC is not in pain\.001\.001\.09: write BICFI\.$/ },
  ),
  of('ELEMENT_OF_OTHER_VERSION', [/<ReqdExctnDt>(.*?)</, '<ReqdExctnDt><Dt>$1</Dt><'], `${payment}/ReqdExctnDt/Dt`, {
    version: 'pain.001.001.03',
    message: /write the date in ReqdExctnDt itself\.$/,
  }),
  of('ELEMENT_OF_OTHER_VERSION', [/<Dt>(.*?)<\/Dt>/, '$1'], `${payment}/ReqdExctnDt`, {
    message: /the date is in ReqdExctnDt\/Dt\.$/,
  }),
  of(
    'MISSING_ELEMENT',
    [
      [/<PmtInf>.*<\/PmtInf>/s, ''],
      ['<NbOfTxs>3<', '<NbOfTxs>0<'],
      ['>1112.35<', '>0<'],
    ],
    'PmtInf',
  ),
  // By the schema, of which mutations.test.ts has the others; below, by the rules of SEPA.
  without('<MsgId>MESSAGE-1</MsgId>', 'GrpHdr', 'MsgId'),
  without(/(?<=<Dbtr>\s*)<Nm>[^<]*<\/Nm>/, `${payment}/Dbtr`, 'Nm'),
  without(/<DbtrAcct>.*?<\/DbtrAcct>/, payment, 'DbtrAcct'),
  without(/<Cdtr>.*?<\/Cdtr>/s, transfer, 'Cdtr/Nm'),
  without('<Nm>Creditor 1</Nm>', `${transfer}/Cdtr`, 'Nm'),
  without(`<IBAN>${french}</IBAN>`, `${transfer}/CdtrAcct/Id`, 'IBAN'),
  without(/<ReqdColltnDt>.*<\/ReqdColltnDt>/, payment, 'ReqdColltnDt', 'pain.008.001.08'),
  without('<MndtId>MANDATE-1</MndtId>', mandate, 'MndtId', 'pain.008.001.08'),
  without('<DtOfSgntr>2024-02-29</DtOfSgntr>', mandate, 'DtOfSgntr', 'pain.008.001.02'),
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
  without(/<DbtrAgt>.*?<\/DbtrAgt>/, debit, 'DbtrAgt', 'pain.008.001.08', {
    message: /Without a BIC, a SEPA payment has DbtrAgt\/FinInstnId\/Othr\/Id with NOTPROVIDED\.$/,
  }),
  of('ELEMENT_NOT_EXPECTED', ['<ChrgBr>', '<Colour>red</Colour><ChrgBr>'], `${payment}/Colour`, {
    message: /^Colour is not an element of PmtInf in pain\.001\.001\.09, which has PmtInfId, PmtMtd, /,
  }),
  of('ELEMENT_NOT_EXPECTED', ['>INVOICE-1<', '><Id>INVOICE-1</Id><'], `${transfer}/PmtId/EndToEndId/Id`, {
    message: /which has a text only\.$/,
  }),
  of(
    'ELEMENT_NOT_EXPECTED',
    ['<Othr><Id>NOTPROVIDED</Id></Othr>', '<Othr><Id>NOTPROVIDED</Id><x:Nm xmlns:x="urn:x">A</x:Nm></Othr>'],
    `${transfer}/CdtrAgt/FinInstnId/Othr`,
    { message: /^x:Nm in Othr is in another namespace than the message\./ },
  ),
  of(
    'ELEMENT_NOT_EXPECTED',
    ['<Cd>SEPA</Cd>', '<Cd>SEPA</Cd><Prtry>SEPA</Prtry>'],
    `${payment}/PmtTpInf/SvcLvl/Prtry`,
    { message: /^SvcLvl must have only one of Cd, Prtry\.$/ },
  ),
  of('ELEMENT_ORDER', [/(<PmtInfId>PAYMENT-1<\/PmtInfId>\s*)(<PmtMtd>TRF<\/PmtMtd>)/, '$2$1'], `${payment}/PmtInfId`, {
    message: /^PmtInfId must be before PmtMtd in PmtInf\.$/,
  }),
  of('ELEMENT_ORDER', [/(<ChrgBr>SLEV<\/ChrgBr>)(.*?)(?=<\/PmtInf>)/s, '$2$1'], `${payment}/ChrgBr`, {
    message: /^ChrgBr must be before CdtTrfTxInf/,
  }),
  of(
    'ELEMENT_REPEATED',
    ['<PmtMtd>TRF</PmtMtd>', '<PmtMtd>TRF</PmtMtd><PmtMtd>TRF</PmtMtd><PmtMtd>TRF</PmtMtd>'],
    `${payment}/PmtMtd[2]`,
    { message: /^PmtMtd is given more than once in PmtInf\./ },
  ),
  of(
    'ELEMENT_REPEATED',
    ['<Amt>', '<PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf><Amt>'],
    `${transfer}/PmtTpInf`,
    { message: /^PmtTpInf is in the payment, too\./ },
  ),
  of('ATTRIBUTE_NOT_EXPECTED', ['<PmtMtd>', '<PmtMtd kind="x">'], `${payment}/PmtMtd`),
  of('ATTRIBUTE_NOT_EXPECTED', ['<PmtMtd>', '<PmtMtd Ccy="EUR">'], `${payment}/PmtMtd`),
  of('TEXT_NOT_EXPECTED', ['<ChrgBr>', 'text<ChrgBr>'], payment),
  of('WRONG_VALUE', ['>SLEV<', '>SLEV <'], `${payment}/ChrgBr`, {
    message: /^ChrgBr must be DEBT, CRED, SHAR or SLEV\.$/,
  }),
  of('WRONG_VALUE', ['<NbOfTxs>2<', '<BtchBookg>yes</BtchBookg><NbOfTxs>2<'], `${payment}/BtchBookg`, {
    message: /^BtchBookg must be true or false\.$/,
  }),
  of(
    'WRONG_VALUE',
    ['<EndToEndId>INVOICE-1</EndToEndId>', '<EndToEndId>INVOICE-1</EndToEndId><UETR>1</UETR>'],
    `${transfer}/PmtId/UETR`,
  ),
  of('EMPTY_ELEMENT', ['>INVOICE-1<', '> <'], `${transfer}/PmtId/EndToEndId`),
  of('EMPTY_ELEMENT', ['Main Street', ''], `${address}/StrtNm`),
  of('EMPTY_ELEMENT', [frenchElement, ''], toFrench),
  inDebit('EMPTY_ELEMENT', ['2024-02-29', ''], `${mandate}/DtOfSgntr`),
  of('TEXT_TOO_LONG', ['INSTRUCTION-1', '123456789-'.repeat(4)], `${transfer}/PmtId/InstrId`, {
    message: /^InstrId has 40 characters\. At most 35 are allowed\.$/,
  }),
  of('TEXT_TOO_LONG', ['Creditor 1', 'Creditor '.repeat(16)], `${transfer}/Cdtr/Nm`),
  of('TEXT_TOO_LONG', ['3, rue de la Plume', 'rue '.repeat(18)], `${transfer}/Cdtr/PstlAdr/StrtNm`),
  of('NAME_OVER_70', ['Creditor 1', 'Creditor '.repeat(8)], `${transfer}/Cdtr/Nm`),
  of('CHARACTERS_NOT_SEPA', ['Creditor 1', 'Müller &amp; Göthe\t'], `${transfer}/Cdtr/Nm`, {
    message: /^Nm has characters outside the SEPA set: ü & ö U\+0009\./,
    suggestion: 'Muller + Gothe', // cspell:disable-line
  }),
  inDebit('CHARACTERS_NOT_SEPA', ['Invoice 1, nibs and ink', '<![CDATA[5 € <for> ink]]>'], `${debit}/RmtInf/Ustrd`, {
    suggestion: '5 E .for. ink',
  }),
  of('SLASHES_IN_REFERENCE', ['INVOICE-1', '/INV//1/'], `${transfer}/PmtId/EndToEndId`, { suggestion: 'INV/1' }),
  of('WRONG_CODE', ['>TRF<', '>trf<'], `${payment}/PmtMtd`, { suggestion: 'TRF' }),
  of('WRONG_CODE', ['>TRF<', '>CHK<'], `${payment}/PmtMtd`, { suggestion: 'TRF' }),
  inDebit('WRONG_CODE', ['>DD<', '>TRF<'], `${payment}/PmtMtd`, { suggestion: 'DD' }),
  inDebit('WRONG_CODE', ['CORE', 'COR1'], `${payment}/PmtTpInf/LclInstrm/Cd`, { message: /CORE or B2B/ }),
  inDebit('WRONG_CODE', ['RCUR', 'RPRE'], `${payment}/PmtTpInf/SeqTp`),
  inDebit('WRONG_CODE', ['<Prtry>SEPA', '<Prtry>sepa'], `${payment}/CdtrSchmeId/Id/PrvtId/Othr/SchmeNm/Prtry`, {
    suggestion: 'SEPA',
  }),
  of('WRONG_NUMBER', ['<NbOfTxs>3<', '<NbOfTxs>three<'], 'GrpHdr/NbOfTxs', { suggestion: '3' }),
  of('WRONG_NUMBER', ['>1112.35<', '>1.112,35<'], 'GrpHdr/CtrlSum', { suggestion: '1112.35' }),
  of('TRANSACTION_COUNT_MISMATCH', ['<NbOfTxs>3<', '<NbOfTxs>4<'], 'GrpHdr/NbOfTxs', {
    suggestion: '3',
    message: /^NbOfTxs is 4, but there are 3 transactions\.$/,
  }),
  of('TRANSACTION_COUNT_MISMATCH', ['<NbOfTxs>1<', '<NbOfTxs>3<'], 'PmtInf[2]/NbOfTxs', { suggestion: '1' }),
  of('CONTROL_SUM_MISMATCH', ['>1112.35<', '>1112.36<'], 'GrpHdr/CtrlSum', {
    suggestion: '1112.35',
    message: /^CtrlSum is 1112\.36, but the sum of the amounts is 1112\.35\. The difference is 0\.01\.$/,
  }),
  inDebit('CONTROL_SUM_MISMATCH', ['>112.35<', '>112.349<'], `${payment}/CtrlSum`, { suggestion: '112.35' }),
  of('CONTROL_SUM_MISSING', ['<CtrlSum>1112.35</CtrlSum>', ''], 'GrpHdr/NbOfTxs'),
  of('DUPLICATE_MESSAGE_ID', [], 'GrpHdr/MsgId', { options: { messageIds: new Set(['MESSAGE-1']) } }),
  of('DUPLICATE_PAYMENT_ID', ['PAYMENT-2', 'PAYMENT-1'], 'PmtInf[2]/PmtInfId', {
    message: /^PmtInfId is that in line 12\./,
  }),
  of(
    'DUPLICATE_END_TO_END_ID',
    ['<EndToEndId>INVOICE-2', '<EndToEndId>INVOICE-1'],
    `${payment}/CdtTrfTxInf[2]/PmtId/EndToEndId`,
    { message: /^EndToEndId is that in line 25\./ },
  ),
  // With references of their own, but the text that the creditor reads.
  of(
    'DUPLICATE_PAYMENT',
    [
      ['1000.00', '12.35'],
      ['Invoice 3', 'Invoice 1'],
      ['>1000<', '>12.35<'],
      ['1112.35', '124.70'],
    ],
    'PmtInf[2]/CdtTrfTxInf[1]',
    { message: /of that in line 24\. Send it once/ },
  ),
  // Without any reference.
  of(
    'DUPLICATE_PAYMENT',
    [
      [/<EndToEndId>INVOICE-[123]/g, '<EndToEndId>NOTPROVIDED'],
      [/<RmtInf>.*?<\/RmtInf>/g, ''],
      ['1000.00', '12.35'],
      ['>1000<', '>12.35<'],
      ['1112.35', '124.70'],
    ],
    'PmtInf[2]/CdtTrfTxInf[1]',
  ),
  // With the same reference, in another notation of the IBAN and the amount.
  inDebit(
    'DUPLICATE_PAYMENT',
    [
      ['1000.00', '012.35'],
      ['>1000<', '>12.35<'],
      ['1112.35', '124.70'],
      ['<EndToEndId>INVOICE-3', '<EndToEndId>INVOICE-1'],
      [/(?<=MANDATE-3.*?<IBAN>)FR14/s, 'fr14'],
    ],
    'PmtInf[2]/DrctDbtTxInf[1]',
    { others: ['DUPLICATE_END_TO_END_ID', 'IBAN_NOT_COMPACT'] },
  ),
  withIban('IBAN_NOT_COMPACT', 'FR14 2004 1010 0505 0001 3M02 606', {
    suggestion: french,
    message: /^The IBAN FR14 \*\*\*\* \*\*\*\* \*\*\*\* \*\*\*\* \*\*\*2 606 is written with spaces/,
  }),
  withIban('EMPTY', '-', { others: ['IBAN_NOT_COMPACT'] }),
  withIban('ILLEGAL_CHARACTERS', 'FR14200410100505000Ф13M02606', { suggestion: french }),
  withIban('UNKNOWN_COUNTRY', 'XX1420041010050500013M02606'),
  withIban('NOT_REGISTERED', 'MA64011519000001205000534921'),
  withIban('WRONG_CHECK_DIGITS', 'MA64011519000001205000534912', { others: ['NOT_REGISTERED'] }),
  withIban('TOO_SHORT', 'FR142004101005050001M02606', {
    message: /An IBAN of FR has 27 characters; this one has 26\.$/,
  }),
  withIban('TOO_LONG', 'FR1420041010050500013M0260666', {
    suggestion: french,
    message: /An IBAN of FR has 27 characters; this one has 29\.$/,
  }),
  withIban('WRONG_STRUCTURE', 'FR14X0041010050500013M02606', { suggestion: french }),
  withIban('CHECK_DIGITS_OUT_OF_RANGE', 'FR0020041010050500013M02606'),
  withIban('WRONG_CHECK_DIGITS', 'FR1420041010050500013M02660', {
    // Of two candidates, the one with the right national check digits.
    suggestion: french,
    message: /The check digits do not match the rest of the IBAN\.$/,
  }),
  // Of several candidates, the one of a bank that is known.
  withIban('WRONG_CHECK_DIGITS', 'DE89370400440532013001', {
    suggestion: 'DE89370400440532013000',
    others: ['PAYEE_BANK_OTHER'],
    options: { banks: { has: (country, bankCode) => country === 'DE' && bankCode === '37040044' } },
  }),
  withIban('NATIONAL_CHECK_FAILED', `FR${calcCheckDigits('FR', wrongKey)}${wrongKey}`),
  // The bank says how the check digit of its account numbers is computed.
  of(
    'NATIONAL_CHECK_FAILED',
    ['DE89370400440532013000', `DE${calcCheckDigits('DE', '370400440532013001')}370400440532013001`],
    `${payment}/DbtrAcct/Id/IBAN`,
    { options: { banks: { accountCheckMethod: (bankCode) => (bankCode === '37040044' ? '00' : null) } } },
  ),
  withIban('IBAN_OUTSIDE_SEPA', 'TR330006100519786457841326', { message: /^TR, the country/ }),
  of('REJECTED_BY_SERVICE', [], toFrench, {
    options: withAnswer({ ...validAnswer, valid: false }),
    others: ['REJECTED_BY_SERVICE'],
  }),
  of('SERVICE_FAILED', [], toFrench, {
    options: withAnswer({ kind: 'failed', code: 'UPSTREAM_TIMED_OUT' }),
    message: /the service failed \(UPSTREAM_TIMED_OUT\)/,
  }),
  of('NOT_CHECKED', [], toFrench, {
    options: withAnswer({ kind: 'not-asked', reason: '--max-calls is reached' }),
    message: /was not asked: --max-calls is reached\.$/,
  }),
  bicOf('BIC_ILLEGAL_CHARACTERS', 'coba de ff', { suggestion: 'COBADEFF' }),
  of('BIC_WRONG_LENGTH', ['COBADEFFXXX', 'COBADEFFX'], `${payment}/DbtrAgt/FinInstnId/BIC`, {
    version: 'pain.001.001.03',
    message: /this one has 9\.$/,
  }),
  of('BIC_UNKNOWN_COUNTRY', ['COBADEFFXXX', 'COBAZZFF'], `${payment}/CdtrAgt/FinInstnId/BIC`, {
    version: 'pain.008.001.02',
  }),
  bicOf('BIC_NOT_PROVIDED', 'NOTPROVIDED'),
  bicOf('BIC_FOR_TESTS', 'COBADEF0'),
  of('BIC_OF_OTHER_BANK', ['<BICFI>COBADEFFXXX', '<BICFI>DEUTDEFF'], `${payment}/DbtrAgt/FinInstnId/BICFI`, {
    suggestion: 'COBADEFFXXX',
    options: { answer: async () => ({ ...validAnswer, bic: 'COBADEFFXXX' }) },
  }),
  // The bank lists are enough.
  of('BIC_OF_OTHER_BANK', ['<BICFI>COBADEFFXXX', '<BICFI>DEUTDEFF'], `${payment}/DbtrAgt/FinInstnId/BICFI`, {
    suggestion: 'COBADEFFXXX',
    options: { banks: { bics: (country) => (country === 'DE' ? ['COBADEFFXXX'] : []) } },
  }),
  of('COUNTRY_INVALID', ['<Ctry>FR', '<Ctry>fr'], `${transfer}/Cdtr/PstlAdr/Ctry`, { suggestion: 'FR' }),
  of('COUNTRY_INVALID', ['<Ctry>DE', '<Ctry>Germany'], `${address}/Ctry`),
  of(
    'ADDRESS_UNSTRUCTURED',
    withAddress('<AdrLine>Main Street 1</AdrLine><AdrLine>60311 Frankfurt</AdrLine>'),
    address,
  ),
  // Of a German bank, but not SEPA.
  of(
    'ADDRESS_UNSTRUCTURED',
    [urgent, [/(?<=<PstlAdr>)<StrtNm>.*?(?=<\/PstlAdr>)/, '<AdrLine>Main Street 1</AdrLine>']],
    address,
  ),
  of('ADDRESS_WITHOUT_TOWN', withAddress('<Ctry>DE</Ctry>'), address),
  of('ADDRESS_WITHOUT_TOWN', withAddress(''), address, { others: ['ADDRESS_WITHOUT_COUNTRY'] }),
  of(
    'ADDRESS_WITHOUT_TOWN',
    withAddress('<AdrTp><Cd>BIZZ</Cd></AdrTp><Ctry>DE</Ctry><AdrLine>Frankfurt</AdrLine>'),
    address,
  ),
  of('ADDRESS_WITHOUT_COUNTRY', withAddress('<TwnNm>Frankfurt</TwnNm>'), address),
  of(
    'ADDRESS_LINES',
    withAddress('<TwnNm>Frankfurt</TwnNm><Ctry>DE</Ctry><AdrLine>1</AdrLine><AdrLine>2</AdrLine><AdrLine>3</AdrLine>'),
    `${address}/AdrLine[3]`,
    { others: ['ADDRESS_HYBRID'] },
  ),
  of('CURRENCY_INVALID', ['Ccy="EUR">12.35', 'Ccy="eur">12.35'], amount, { suggestion: 'EUR' }),
  of('CURRENCY_INVALID', [' Ccy="EUR">12.35', '>12.35'], amount),
  of(
    'CURRENCY_INVALID',
    [/<RmtInf>.*<\/RmtInf>/, '<RmtInf><Strd><RfrdDocAmt><DuePyblAmt>10.00</DuePyblAmt></RfrdDocAmt></Strd></RmtInf>'],
    'PmtInf[1]/CdtTrfTxInf[1]/RmtInf/Strd/RfrdDocAmt/DuePyblAmt',
  ),
  ...['HRK', 'BGN', 'ANG', 'DEM'].map((currency) => {
    const message = new RegExp(`^The currency ${currency} has ended\\. Write the amount in (EUR|XCG), `);
    return of('CURRENCY_INVALID', ['Ccy="EUR">12.35', `Ccy="${currency}">12.35`], amount, { message });
  }),
  of('CURRENCY_NOT_EUR', ['Ccy="EUR">12.35', 'Ccy="CHF">12.35'], amount, {
    message: /not CHF\. Convert the amount to euros, or send a foreign payment, without the service level SEPA\.$/,
  }),
  inDebit('CURRENCY_NOT_EUR', ['Ccy="EUR">12.35', 'Ccy="USD">12.35'], `${debit}/InstdAmt`, {
    message: /not USD\. Convert the amount to euros\.$/,
  }),
  withAmount('AMOUNT_FORMAT', '1.234,5', { suggestion: '1234.50' }),
  withAmount('AMOUNT_FORMAT', '12.350', { suggestion: '12.35' }),
  withAmount('AMOUNT_FORMAT', '12.345'),
  withAmount('AMOUNT_FORMAT', '-12.35'),
  withAmount('AMOUNT_FORMAT', '1e3'),
  withAmount('AMOUNT_FORMAT', '12.35 EUR'),
  ...['XCD', 'CHF'].map((currency) => {
    const message = new RegExp(`^The amount in ${currency} must be a positive number with at most 2 decimals`);
    return withAmount('AMOUNT_FORMAT', '12.345', { currency, message });
  }),
  withAmount('AMOUNT_FORMAT', '1000.50', {
    currency: 'JPY',
    message:
      /^The amount in JPY must be a positive number with no decimals, such as 1234\. Round it, or correct the currency\.$/,
  }),
  withAmount('AMOUNT_FORMAT', "1'000,00", { currency: 'JPY', suggestion: '1000' }),
  withAmount('AMOUNT_OUT_OF_RANGE', '0.00'),
  withAmount('AMOUNT_OUT_OF_RANGE', '1000000000.00'),
  of('DATE_FORMAT', ['2026-11-26T09:30:00', '2026-11-26T09:30:00+15:00'], 'GrpHdr/CreDtTm'),
  of('DATE_FORMAT', ['2026-11-26T09:30:00', '26.11.2026'], 'GrpHdr/CreDtTm'),
  of('DATE_FORMAT', ['<Dt>2026-11-30', '<Dt>2026-02-30'], executionDate),
  of('DATE_FORMAT', [/<Dt>.*?<\/Dt>/, '<DtTm>2026-11-30T25:00:00</DtTm>'], `${payment}/ReqdExctnDt/DtTm`),
  inDebit('DATE_FORMAT', ['2024-02-29', '2023-02-29'], `${mandate}/DtOfSgntr`),
  of('EXECUTION_DATE_PAST', ['<Dt>2026-11-30', '<Dt>2026-11-25'], executionDate),
  inDebit('EXECUTION_DATE_PAST', ['>2026-11-30', '>2026-11-25'], collectionDate),
  of('EXECUTION_DATE_FAR', ['<Dt>2026-11-30', '<Dt>2028-11-30'], executionDate, {
    message: /^The date 2028-11-30 is over 180 days/,
  }),
  inDebit('COLLECTION_DATE_SOON', ['>2026-11-30', '>2026-11-27'], collectionDate),
  // After a weekend.
  inDebit('COLLECTION_DATE_SOON', [], collectionDate, {
    options: { today: '2026-11-27' },
    others: ['COLLECTION_DATE_SOON'],
  }),
  of('EXECUTION_DATE_NO_BUSINESS_DAY', ['<Dt>2026-11-30', '<Dt>2026-11-28'], executionDate),
  of('EXECUTION_DATE_NO_BUSINESS_DAY', ['<Dt>2026-11-30', '<Dt>2027-03-26'], executionDate),
  inDebit('SIGNATURE_DATE_IN_FUTURE', ['2024-02-29', '2026-11-27'], `${mandate}/DtOfSgntr`),
  inDebit(
    'CREDITOR_ID_INVALID',
    [
      '</DtOfSgntr>',
      '</DtOfSgntr><AmdmntInd>true</AmdmntInd><AmdmntInfDtls><OrgnlCdtrSchmeId><Id><PrvtId><Othr><Id>DE89ZZZ09999999999</Id><SchmeNm><Prtry>SEPA</Prtry></SchmeNm></Othr></PrvtId></Id></OrgnlCdtrSchmeId></AmdmntInfDtls>',
    ],
    `${mandate}/AmdmntInfDtls/OrgnlCdtrSchmeId/Id/PrvtId/Othr/Id`,
  ),
  inDebit('CREDITOR_ID_INVALID', ['DE98ZZZ', 'DE89ZZZ'], `${payment}/CdtrSchmeId/Id/PrvtId/Othr/Id`, {
    message: /Its check digits do not match\.$/,
  }),
  of('CHARGE_BEARER_NOT_SLEV', ['<ChrgBr>SLEV', '<ChrgBr>SHAR'], `${payment}/ChrgBr`, { suggestion: 'SLEV' }),
  of('REMITTANCE_TOO_LONG', ['Invoice 1, nibs and ink', 'ink '.repeat(36)], `${transfer}/RmtInf/Ustrd`, {
    message: /144 characters/,
  }),
  of('REMITTANCE_REPEATED', [/<Ustrd>Invoice 1/, '<Ustrd>Nibs</Ustrd><Ustrd>Invoice 1'], `${transfer}/RmtInf/Ustrd[2]`),
  of('RULES_NOT_CHECKED', [['DE89370400440532013000', 'GB29NWBK60161331926819'], urgent], transfer, {
    message: /^2 payments outside SEPA, for which no rules of a bank are known here\./,
  }),
  // Of a German bank.
  of('AGENT_MISSING', [urgent, [`<IBAN>${french}</IBAN>`, '<Othr><Id>123456</Id></Othr>']], `${transfer}/CdtrAgt`),
  // A Swiss bank needs it for an IBAN of another country, too.
  of(
    'AGENT_MISSING',
    [ofSwissBank, allUrgent, withoutBanks, ['NL91ABNA0417164300', 'CH5604835012345678009']],
    transfer,
    { others: ['AGENT_MISSING'], message: /BIC in CdtrAgt or, to send euros, the service level SEPA\.$/ },
  ),
  of(
    'POSTAL_ACCOUNT',
    [
      ...[ofSwissBank, allUrgent, toSwissBank],
      ['<IBAN>CH5604835012345678009</IBAN>', '<Othr><Id>80-470-3</Id></Othr>'],
      [withoutBanks[0], '<CdtrAgt><FinInstnId><BICFI>POFICHBEXXX</BICFI></FinInstnId></CdtrAgt>'],
    ],
    `${transfer}/CdtrAcct/Id/Othr/Id`,
    { message: /^Payments to postal accounts ended/ },
  ),
  of(
    'PAYMENT_SLIP_ENDED',
    [...[ofSwissBank, allUrgent, toSwissBank], ['</SvcLvl>', '</SvcLvl><LclInstrm><Prtry>CH01</Prtry></LclInstrm>']],
    `${payment}/PmtTpInf/LclInstrm/Prtry`,
  ),
  of(
    'ADDRESS_MISSING',
    [urgent, ['Ccy="EUR">12.35', 'Ccy="USD">12.35'], [/(?<=<Cdtr>.*)<PstlAdr>.*?<\/PstlAdr>/s, '']],
    `${transfer}/Cdtr/PstlAdr`,
  ),
  // Euros from a Swiss bank to another country.
  of(
    'ADDRESS_MISSING',
    [
      ofSwissBank,
      allUrgent,
      [/<Othr><Id>NOTPROVIDED<\/Id><\/Othr>/g, '<BICFI>PSSTFRPPPAR</BICFI>'],
      [/(?<=<Cdtr>.*)<PstlAdr>.*?<\/PstlAdr>/s, ''],
    ],
    `${transfer}/Cdtr/PstlAdr`,
  ),
  of('IBAN_BANK_UNKNOWN', [], toFrench, {
    others: ['IBAN_BANK_UNKNOWN'],
    options: {
      banks: { status: (country) => (country === 'NL' ? 'UNKNOWN' : 'NOT_LISTED') },
    },
  }),
  of(
    'IBAN_BANK_UNKNOWN',
    [
      '<Othr><Id>NOTPROVIDED</Id></Othr>',
      '<ClrSysMmbId><ClrSysId><Cd>CHBCC</Cd></ClrSysId><MmbId>99999</MmbId></ClrSysMmbId>',
    ],
    `${transfer}/CdtrAgt/FinInstnId/ClrSysMmbId/MmbId`,
    { options: { banks: { status: (_, bankCode) => (bankCode === '99999' ? 'NOT_LISTED' : 'UNKNOWN') } } },
  ),
  of('NAMES_DIFFER', [/(?<=PAYMENT-2.*)Creditor 1/s, 'Ink AG'], 'PmtInf[2]/CdtTrfTxInf[1]/Cdtr/Nm', {
    message: /^Nm is another than that of the same IBAN in line 29\./,
  }),
  of('VERSION_ENDS', [/2026-11-30/g, '2026-11-13'], '', {
    version: 'pain.001.001.03',
    options: { today: '2026-11-12' },
    message:
      /^German banks do not accept pain\.001\.001\.03 from 2026-11-14 .* --renovate writes the version of 2019\.$/,
  }),
  // The day of the payment decides.
  of('VERSION_ENDED', [], '', { version: 'pain.001.001.03', options: { today: '2026-11-12' } }),
  // Each payment by its own day.
  of('VERSION_ENDED', ['2026-11-30', '2026-11-13'], '', {
    ...{ version: 'pain.001.001.03', options: { today: '2026-11-12' }, others: ['VERSION_ENDS'] },
  }),
  of('VERSION_ENDED', [/DE89370400440532013000/g, 'CH9300762011623852957'], '', {
    version: 'pain.008.001.02',
    message: /^Swiss banks do not accept pain\.008\.001\.02 from /,
    others: ['ADDRESS_REQUIRED', 'ADDRESS_REQUIRED', 'ADDRESS_REQUIRED'],
  }),
  of('SERVICE_LEVEL_UNKNOWN', ['<Cd>SEPA', '<Cd>Sepa'], `${payment}/PmtTpInf/SvcLvl/Cd`, { suggestion: 'SEPA' }),
  // The payment is judged by its currency and accounts.
  of(
    'SERVICE_LEVEL_UNKNOWN',
    [
      ['<Cd>SEPA', '<Cd>SEPB'],
      ['SLEV', 'SHAR'],
    ],
    `${payment}/PmtTpInf/SvcLvl/Cd`,
    { others: ['CHARGE_BEARER_NOT_SLEV'] },
  ),
  of(
    'ADDRESS_REQUIRED',
    [
      [/<PstlAdr>.*?<\/PstlAdr>/, ''],
      ['NL91ABNA0417164300', 'GB29NWBK60161331926819'],
    ],
    `${payment}/Dbtr`,
    { message: /from or to GB, outside the EEA/ },
  ),
  of(
    'LEI_CHECK_DIGITS',
    ['</Nm></InitgPty>', '</Nm><Id><OrgId><LEI>529900T8BM49AURSDO56</LEI></OrgId></Id></InitgPty>'],
    'GrpHdr/InitgPty/Id/OrgId/LEI',
  ),
  of('QR_IBAN', ['DE89370400440532013000', 'CH4431999123000889012'], `${payment}/DbtrAcct/Id/IBAN`, {
    message: /^A QR-IBAN only receives payments\./,
  }),
  of(
    'QR_IBAN',
    [
      [frenchElement, 'CH4431999123000889012'],
      ['Ccy="EUR">12.35', 'Ccy="USD">12.35'],
      [ustrd, structured('<Prtry>QRR</Prtry>', '210000000003139471430009017')],
    ],
    toFrench,
    { message: /^A QR-IBAN receives CHF and EUR, not USD\./, options: { profile: 'iso' } },
  ),
  of('REFERENCE_NOT_COMPACT', [ustrd, structured('<Cd>SCOR</Cd>', 'rf18 5390 0754 7034')], creditorReference, {
    suggestion: 'RF18539007547034',
  }),
  of('ADDRESS_HYBRID', withAddress('<TwnNm>Frankfurt</TwnNm><Ctry>DE</Ctry><AdrLine>Main Street</AdrLine>'), address, {
    message: /^1 address with AdrLine beside TwnNm, which a bank may accept\. Ask it, /,
  }),
  // Between two German accounts.
  of(
    'CHARACTERS_CONVERTED',
    [
      withoutBanks,
      [/FR1420041010050500013M02606(?=.*NL91)/s, 'DE44500105175407324931'],
      ['Creditor 1', 'Müller &amp; Co'],
    ],
    `${transfer}/Cdtr/Nm`,
    { message: /^1 text with characters such as ä or &/ },
  ),
  of(
    'CHARACTERS_CONVERTED',
    [withoutBanks, ['Creditor 1', 'Müller &amp; Co'], ['Creditor 2', 'Göthe']],
    `${transfer}/Cdtr/Nm`,
    { options: { profile: 'dk' }, message: /^2 texts with characters such as ä or &/ },
  ),
  of('CHARACTERS_NOT_SWISS', ['Creditor 1', 'Müller Елена'], `${transfer}/Cdtr/Nm`, {
    options: { profile: 'sps' },
    message: /outside the Swiss set: Е л е н а\./,
    suggestion: 'Müller Elena',
  }),
  of(
    'INSTITUTION_OTHER',
    ['<Othr><Id>NOTPROVIDED</Id></Othr>', '<Nm>A bank</Nm><Othr><Id>37040044</Id></Othr>'],
    `${transfer}/CdtrAgt/FinInstnId/Othr/Id`,
  ),
  of(
    'DUPLICATE_UETR',
    [/<\/EndToEndId>/g, '</EndToEndId><UETR>8a562c67-ca16-48ba-b074-65581be6f001</UETR>'],
    `${payment}/CdtTrfTxInf[2]/PmtId/UETR`,
    { message: /^UETR is that in line 25\./, others: ['DUPLICATE_UETR'] },
  ),
  of(
    'EXTERNAL_CODE_UNKNOWN',
    ['</SvcLvl>', '</SvcLvl><LclInstrm><Cd>inst</Cd></LclInstrm>'],
    `${payment}/PmtTpInf/LclInstrm/Cd`,
    { suggestion: 'INST' },
  ),
  of(
    'EXTERNAL_CODE_UNKNOWN',
    ['</SvcLvl>', '</SvcLvl><CtgyPurp><Cd>SLRY</Cd></CtgyPurp>'],
    `${payment}/PmtTpInf/CtgyPurp/Cd`,
    { message: /^CtgyPurp\/Cd is not in the list of ISO 20022/ },
  ),
  of('CODE_REQUIRED', ['<RmtInf>', '<Purp><Prtry>Salary</Prtry></Purp><RmtInf>'], `${transfer}/Purp/Prtry`, {
    message: /^Purp of a SEPA payment must be a code, such as SALA, in Cd\./,
  }),
  inDebit('CODE_REQUIRED', ['<Cd>CORE</Cd>', '<Prtry>CORE</Prtry>'], `${payment}/PmtTpInf/LclInstrm/Prtry`),
  of('INSTITUTION_EMPTY', ['<Othr><Id>NOTPROVIDED</Id></Othr>', '<Nm>A bank</Nm>'], `${transfer}/CdtrAgt/FinInstnId`, {
    message: /^FinInstnId has only a name or address\./,
  }),
  of('INSTITUTION_EMPTY', ['<Othr><Id>NOTPROVIDED</Id></Othr>', ''], `${transfer}/CdtrAgt/FinInstnId`),
  of(
    'INSTITUTION_MISSING',
    [['<Othr><Id>NOTPROVIDED</Id></Othr>', ''], withoutBanks],
    `${transfer}/CdtrAgt/FinInstnId`,
    { options: { profile: 'dk' } },
  ),
  of(
    'PAYEE_BANK_OTHER',
    [/<\/CdtrAgt>(.*)<CdtrAgt>.*?<\/CdtrAgt>(.*)<CdtrAgt>.*?<\/CdtrAgt>/s, '</CdtrAgt>$1$2'],
    `${transfer}/CdtrAgt/FinInstnId/Othr`,
    { options: { profile: 'dk' } },
  ),
  of('NOT_IN_SCHEME', [], toFrench, {
    message: /in SEPA Credit Transfer, by the register of 2026-11-21\.$/,
    others: ['NOT_IN_SCHEME'],
    options: { banks: frenchBank({ SCT: false, SCT_INST: true }) },
  }),
  of('VERIFICATION_NOT_OFFERED', [], toFrench, {
    message: /in Verification of Payee, by the register of 2026-11-21\. The/,
    others: ['VERIFICATION_NOT_OFFERED'],
    options: { banks: frenchBank({ SCT: true, VOP: false }) },
  }),
  of(
    'PAYEE_VERIFICATION',
    [
      [/<CdtTrfTxInf>(?:(?!<CdtTrfTxInf>).)*INVOICE-2.*?<\/CdtTrfTxInf>/s, ''],
      [/<PmtInf>(?:(?!<PmtInf>).)*PAYMENT-2.*<\/PmtInf>/s, ''],
      ['<NbOfTxs>3<', '<NbOfTxs>1<'],
      ['<NbOfTxs>2<', '<NbOfTxs>1<'],
      ['>1112.35<', '>12.35<'],
      ['>112.35<', '>12.35<'],
    ],
    'GrpHdr',
  ),
  of('PURPOSE_FORMAT', ['<RmtInf>', '<Purp><Cd>sala</Cd></Purp><RmtInf>'], `${transfer}/Purp/Cd`, {
    suggestion: 'SALA',
  }),
  of('PURPOSE_FORMAT', ['<RmtInf>', '<Purp><Cd>QQQQ</Cd></Purp><RmtInf>'], `${transfer}/Purp/Cd`),
  of('REFERENCE_CHECK_DIGITS', [ustrd, structured('<Cd>SCOR</Cd>', 'RF19539007547034')], creditorReference, {
    message: /RF reference/,
  }),
  of(
    'REFERENCE_CHECK_DIGITS',
    [ustrd, structured('<Cd>SCOR</Cd>', '090933755494').replace('</Tp>', '<Issr>BBA</Issr></Tp>')],
    creditorReference,
    { message: /Belgian structured communication/ },
  ),
  of('REFERENCE_CHECK_DIGITS', [ustrd, '<Ustrd>+++090/9337/55494+++</Ustrd>'], `${transfer}/RmtInf/Ustrd`, {
    message: /Belgian structured communication/,
  }),
  of(
    'REFERENCE_CHECK_DIGITS',
    [
      [frenchElement, 'CH4431999123000889012'],
      [ustrd, structured('<Prtry>QRR</Prtry>', '210000000003139471430009018')],
    ],
    creditorReference,
    { message: /^A QR reference must have 27 digits/ },
  ),
  withIban('QR_REFERENCE', 'CH4431999123000889012', { message: /^A QR-IBAN needs a QR reference/ }),
  of('QR_REFERENCE', [ustrd, structured('<Prtry>QRR</Prtry>', '210000000003139471430009017')], creditorReference, {
    message: /needs a QR-IBAN\./,
  }),
  inDebit('AMENDMENT_MISSING', ['</DtOfSgntr>', '</DtOfSgntr><AmdmntInd>true</AmdmntInd>'], `${mandate}/AmdmntInd`),
  inDebit('AMENDMENT_NOT_INDICATED', ['</DtOfSgntr>', `</DtOfSgntr>${amendment}`], `${mandate}/AmdmntInfDtls`),
];

describe('a case', () => {
  it.each(cases)('$code at $at', async ({ code, version = 'pain.001.001.09', changes, at, options, ...expected }) => {
    let message = rightMessage(version);
    for (const [from, to] of changes) {
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
    // What is wrong is never said to be right.
    const written = message.split('\n')[lineOf(message, xpath) - 1];
    if (found?.suggestion) expect(written).not.toContain(`>${found.suggestion}<`);
    // The first and the last transaction have the same IBAN and name, of which a case may change one.
    const codes = (code.startsWith('VERSION_END') ? findings : withoutVersionEnd(findings))
      .map((finding) => finding.code)
      .filter((each) => each === code || each !== 'NAMES_DIFFER');
    expect(codes.toSorted()).toEqual([code, ...(expected.others ?? [])].toSorted());
    for (const finding of findings)
      expect(finding.message).not.toMatch(/[A-Z]{2}\d\d ?[A-Z0-9]{4} ?[A-Z0-9]{4} ?[A-Z0-9]{3}/);
  });
});

it('each code of the table has a case, or one in status-report.test.ts', () => {
  const reported = Object.keys(rules).filter((code) => /^(?:REPORT|BANK|PAYEE)_(?!VERIFICATION)/.test(code));
  const covered = [...[...cases, ...refusedFiles].map(({ code }) => code), ...reported];
  expect([...new Set(covered)].toSorted()).toEqual(Object.keys(rules).toSorted());
});
