import { shorten } from '../../base/process/terminal.ts';
import { redactIbans } from '../../base/redact.ts';
import { isRuleCode, type RuleCode } from '../finding.ts';
import { bankReasons, readRows } from './code-lists.ts';
import { find, findAll, textOf, type XmlElement } from './elements.ts';
import type { Problem } from './findings.ts';

/* What statuses and reasons of banks mean, in words. */

/**
 * What a status of a bank means, and what the bank writes; null if the payment is accepted, and the name right.
 * @param element that has it, with its reasons
 */
export function judgeStatus(status: string | null, element: XmlElement): Problem | null {
  const { code, meaning, advice } = bankStatuses.get(status ?? '') ?? {};
  if (code === null) return null;
  const suggestion = status === 'RVMC' && element.name === 'TxInfAndSts' ? readName(element) : null;
  const quoted = suggestion === null ? quoteBank(element) : '';
  const reasons = reasonsOf(element).filter(isCode).map(describeReason).join('; ');
  if (code === undefined) {
    const meant = bankStatuses.get(status?.toUpperCase() ?? '')?.meaning;
    const what = meant ? `In capitals: ${meant}.` : 'Ask the bank.';
    const printed = isCode(status ?? '') ? status : 'of the report';
    const fact = status === null ? missingStatus.message : `The status ${printed} is not one of ISO 20022. ${what}`;
    return { ...missingStatus, message: `${fact}${reasons && ` The reason: ${reasons}.`}${quoted}` };
  }
  const isUnexplained = code === 'BANK_REJECTED' && reasons === '' && quoted === '';
  const because = isUnexplained ? ': without a reason' : reasons && `: ${reasons}`;
  return { code, message: `${meaning} (${status})${because}.${advice && ` ${advice}`}${quoted}`, suggestion };
}

export const missingStatus: Problem = {
  code: 'BANK_STATUS_UNKNOWN',
  message: 'The report has no status for it. Ask the bank.',
};

/** Whether what is said of a whole is said of its parts, too. @param below the problems of the parts */
export function isSaidOfParts(status: string | null, below: ReadonlySet<RuleCode>): boolean {
  if (status === 'PART') return below.has('BANK_REJECTED');
  return /^RV/.test(status ?? '') && [...below].some((code) => code.startsWith('PAYEE_'));
}

/** By the status: the code of the finding, null for one that is accepted, what it means, and advice. */
export const bankStatuses = new Map(
  readRows('bank-statuses.tsv').map(([status = '', finding = '', meaning = '', advice = '']) => {
    const code = finding === 'accepted' ? null : finding;
    if (code !== null && !isRuleCode(code)) throw new Error(`${code} must be a code of rules.json`);
    return [status, { code, meaning, advice }] as const;
  }),
);

/** The name of the account, which Verification of Payee puts there; null if it is another text. */
function readName(transaction: XmlElement): string | null {
  const bare = joinLines(transaction).replaceAll(/^["\u201C\u201E]+|["\u201C\u201D]+$/g, '');
  return bare === '' || bare.length > 140 || /^RV[A-Z]{2}\b/.test(bare) ? null : bare;
}

/** What the bank says in words of its own, as a sentence; empty if it says nothing. */
function quoteBank(element: XmlElement): string {
  const texts = [...reasonsOf(element).filter((text) => !isCode(text)), joinLines(element)].filter(Boolean);
  const quotes = texts.map((text) => `"${shorten(redactIbans(text.replaceAll(/\s+/g, ' ')), maxQuoted)}"`);
  return quotes.length === 0 ? '' : ` The bank writes: ${quotes.join(', ')}.`;
}

/** The further information, in lines of 105 characters. */
function joinLines(element: XmlElement): string {
  const lines = findAll(element, 'StsRsnInf').flatMap((each) => findAll(each, 'AddtlInf'));
  const texts = lines.map(textOf).map((line) => (line?.length === 105 ? line : `${line ?? ''} `));
  return texts.join('').trim();
}

/** More than eight lines of a bank. */
const maxQuoted = 841;

function reasonsOf(element: XmlElement): readonly string[] {
  const reasons = findAll(element, 'StsRsnInf').map((each) => find(each, 'Rsn'));
  return reasons.flatMap((reason) => textOf(find(reason, 'Cd')) ?? textOf(find(reason, 'Prtry')) ?? []);
}

/** Otherwise it may be any text. */
function isCode(text: string): boolean {
  return /^[A-Za-z0-9]{1,10}$/.test(text);
}

/** A reason of ISO's external code list in words. */
function describeReason(code: string): string {
  const words = bankReasons.get(code);
  return words === undefined ? `the code ${code} of the bank` : `${words} (${code})`;
}
