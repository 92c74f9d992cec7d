import { find, findAll, textOf, type XmlElement } from './elements.ts';
import type { RuleCode } from './rules.ts';

/** What is to be reported about what a bank says. */
export interface BankProblem {
  code: RuleCode;
  message: string;
  suggestion: string | null;
}

/**
 * What a status of a bank means; null if the payment is accepted, and the name right.
 * @param element that has it, with its reasons
 */
export function judgeStatus(status: string | null, element: XmlElement): BankProblem | null {
  if (status === null) return missingStatus;
  if (accepted.has(status)) return null;
  const known = statuses[status];
  if (known === undefined) {
    const [, meant] = statuses[status.toUpperCase()] ?? [];
    const advice = meant === undefined ? 'Ask the bank.' : `In capitals: ${meant}.`;
    const message = `The status ${printCode(status) ?? 'of the report'} is not one of ISO 20022. ${advice}`;
    return { ...missingStatus, message };
  }
  const [code, meaning, advice] = known;
  const because = describeReasons(element, code === 'BANK_REJECTED');
  const message = `${meaning} (${status})${because}.${advice === undefined ? '' : ` ${advice}`}`;
  return { code, message, suggestion: status === 'RVMC' && element.name === 'TxInfAndSts' ? readName(element) : null };
}

export const missingStatus: BankProblem = {
  code: 'BANK_STATUS_UNKNOWN',
  message: 'The report has no status for it. Ask the bank.',
  suggestion: null,
};

/** Whether what is said of a whole is said of its parts, too. @param below the problems of the parts */
export function isSaidOfParts(status: string | null, below: ReadonlySet<RuleCode>): boolean {
  if (status === 'PART') return below.has('BANK_REJECTED');
  return /^RV/.test(status ?? '') && [...below].some((code) => code.startsWith('PAYEE_'));
}

/** External code sets of ISO 20022, for transactions and for groups of them, with those of Verification of Payee. */
const accepted: ReadonlySet<string> = new Set('ACCC ACCP ACFC ACIS ACPD ACSC ACSP ACTC CPUC PRES RCVC'.split(' '));

const statuses: Readonly<Record<string, readonly [code: RuleCode, meaning: string, advice?: string]>> = {
  RJCT: ['BANK_REJECTED', 'The bank has rejected it'],
  CANC: ['BANK_REJECTED', 'It is canceled'],
  PART: ['BANK_ATTENTION', 'The bank has accepted only a part', 'Ask the bank which.'],
  BLCK: ['BANK_ATTENTION', 'The money is blocked: the payee does not get it, and it is not returned', 'Ask the bank.'],
  ACWC: ['BANK_ATTENTION', 'The bank executes it with a change, such as another date', 'Ask the bank which.'],
  PDNG: ['BANK_PENDING', 'The bank has not decided yet'],
  RCVD: ['BANK_PENDING', 'The bank has received it, and not checked it yet'],
  PATC: ['BANK_PENDING', 'The bank waits for further signatures'],
  ACWP: ['BANK_PENDING', 'The bank of the payee has accepted it, and not booked it yet'],
  RVCM: ['BANK_ATTENTION', 'Not all names are those of the account holders', 'Ask the bank which.'],
  RVNM: ['PAYEE_NAME_DIFFERS', 'The name is not that of the account holder', 'Ask the payee for it.'],
  RVMC: [
    'PAYEE_NAME_SIMILAR',
    'The name is almost, but not exactly, that of the account holder',
    'Ask the payee for it.',
  ],
  RVNA: ['PAYEE_NOT_VERIFIED', 'The name could not be compared with the account holder'],
  RVNC: ['PAYEE_NOT_VERIFIED', 'The names were not all compared with the account holders'],
};

/** The name of the account, which Verification of Payee puts there, in lines of 105 characters; null if it is another text. */
function readName(transaction: XmlElement): string | null {
  const lines = furtherTexts(transaction);
  const name = lines.map((line) => (line.length === 105 ? line : `${line} `)).join('');
  const bare = name.trim().replaceAll(/^["\u201C\u201E]+|["\u201C\u201D]+$/g, '');
  return bare === '' || bare.length > 140 || /^RV[A-Z]{2}\b/.test(bare) ? null : bare;
}

function describeReasons(element: XmlElement, isRejected: boolean): string {
  const codes = findAll(element, 'StsRsnInf').flatMap(
    (each) => textOf(find(each, 'Rsn', 'Cd')) ?? textOf(find(each, 'Rsn', 'Prtry')) ?? [],
  );
  if (codes.length > 0) return `: ${codes.map(describeReason).join('; ')}`;
  if (!isRejected) return '';
  return furtherTexts(element).length > 0 ? ': the reason is in AddtlInf of the report' : ': without a reason';
}

function furtherTexts(element: XmlElement): readonly string[] {
  const texts = findAll(element, 'StsRsnInf').flatMap((each) => findAll(each, 'AddtlInf'));
  return texts.map(textOf).filter((text) => text !== null);
}

/** Null if it may be any text. */
function printCode(code: string): string | null {
  return /^[A-Za-z0-9]{1,10}$/.test(code) ? code : null;
}

/** A reason of ISO's external code list in words; other codes as they are. */
function describeReason(code: string): string {
  const words = reasons.get(code);
  const printed = printCode(code) ?? 'a reason of the bank';
  return words === undefined ? printed : `${words} (${code})`;
}

const reasons: ReadonlyMap<string, string> = new Map(
  `
  AB05 time-out at the bank of the creditor  AB06 time-out of an instant payment  AB08 the bank of the creditor is offline
  AC01 wrong account number  AC02 wrong account number of the debtor  AC03 wrong account number of the creditor  AC04 the account is closed
  AC06 the account is blocked  AC13 the debtor is a consumer, for whom the scheme is not allowed
  AG01 the account does not allow this kind of payment  AG02 wrong kind of payment  AG03 the payment is not supported  AM01 the amount is zero
  AM02 the amount is not allowed  AM03 the currency is not allowed  AM04 insufficient funds  AM05 duplicate  AM09 wrong amount
  AM10 wrong control sum  AM12 the amount cannot be read  BE01 the party is not the account holder
  BE04 the address of the creditor is missing or wrong  BE05 the initiating party is not known  BE07 the address of the debtor is missing or wrong
  CNOR the bank of the creditor is not known  CURR wrong currency  CUST requested by the customer  DNOR the bank of the debtor is not known
  DT01 wrong date  DT02 wrong creation date  DU01 MsgId is not unique  DU02 PmtInfId is not unique  DU03 the transaction is not unique
  DU04 EndToEndId is not unique  DUPL duplicate  ED05 settlement failed  FF01 wrong format of the file  FF03 wrong payment type
  FF05 wrong local instrument  FOCR after a request for a recall  MD01 no valid mandate  MD02 the mandate is not complete
  MD06 refund, as requested by the debtor  MD07 the debtor is deceased  MS02 no reason, by the customer  MS03 no reason, by the bank
  NARR in a text of the bank  NOAS no answer of the customer  RC01 wrong BIC  RR01 the account or identification of the debtor is missing
  RR02 the name or address of the debtor is missing  RR03 the name or address of the creditor is missing  RR04 regulatory reason
  SL01 a service of the bank of the debtor  TM01 after the cut-off time
  `
    .trim()
    .split(/ {2}|\n {2}/)
    .map((reason) => [reason.slice(0, 4), reason.slice(5)]),
);
