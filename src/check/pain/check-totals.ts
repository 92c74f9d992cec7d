import { find, textOf, type XmlElement, xpathOf } from './elements.ts';
import { currencyDecimals, endedCurrencies } from './external-codes.ts';
import type { MessageFindings } from './findings.ts';
import type { MessageVersion } from './message-versions.ts';
import { findAmount } from './profiles.ts';
import { isXmlDecimal } from './schema.ts';
import { schemaDecimals } from './schema-tables.ts';
import { parseDecimal, printUnits, repairDecimal } from './values.ts';

/** The transactions of a message, or of a payment. */
export interface Totals {
  count: number;
  /** By currency, in hundred-thousandths. */
  sums: Map<string, bigint>;
  /** Whether all amounts could be read. */
  isExact: boolean;
}

/**
 * Adds up the amounts of a message and of each payment, and compares them with what its header and the payment declare. What would be right
 * is suggested for the only wrong declaration of a message, if another one confirms the transactions: otherwise one may be missing.
 */
export function createTotalsCheck(findings: MessageFindings) {
  const ofMessage = createTotals();
  let ofPayment = createTotals();
  let groupHeader: XmlElement | null = null;
  /** The first wrong declaration, while it is the only one. */
  let only: WrongDeclaration | null = null;
  let wrong = 0;
  /** Whether all payments confirm what they have. */
  const payments: Confirmed = { count: true, sum: true };

  const judge = (element: XmlElement, totals: Totals): Confirmed => {
    const count = judgeCount(find(element, 'NbOfTxs'), totals, findings);
    const sum = judgeSum(find(element, 'CtrlSum'), totals, findings);
    for (const declared of [count, sum]) {
      if (declared === null || declared === 'right') continue;
      wrong += 1;
      if (wrong > 1) report([...(only === null ? [] : [only]), declared], false);
      // A right sum confirms the number of its transactions, but not the reverse: an amount may be wrong.
      only = wrong > 1 ? null : { ...declared, isConfirmed: declared === count && sum === 'right' };
    }
    return { count: count === 'right' || sum === 'right', sum: sum === 'right' };
  };
  const report = (declarations: readonly WrongDeclaration[], isCertain: boolean) => {
    for (const { code, element, message, right } of declarations) {
      findings.add(code, element, isCertain ? message : `${message} ${uncertain}`, isCertain ? right : null);
    }
  };

  return {
    ofMessage,
    /** Null until it was read. */
    groupHeader: () => groupHeader,
    header(element: XmlElement): void {
      if (element.name === 'GrpHdr') groupHeader ??= element;
    },
    openPayment(): void {
      ofPayment = createTotals();
    },
    /** @returns its amount */
    transaction(transaction: XmlElement, { isDirectDebit }: MessageVersion): XmlElement | null {
      const amount = findAmount(transaction, isDirectDebit);
      for (const totals of [ofMessage, ofPayment]) addAmount(totals, amount);
      return amount;
    },
    closePayment(payment: XmlElement): void {
      const { count, sum } = judge(payment, ofPayment);
      payments.count &&= count;
      payments.sum &&= sum;
    },
    closeMessage(): void {
      const isOfPayment = only !== null;
      const group = groupHeader === null ? { count: false, sum: false } : judge(groupHeader, ofMessage);
      if (only === null) return;
      const others = isOfPayment ? group : payments;
      report([only], only.isConfirmed || (only.isCount ? others.count : others.sum));
    },
    /** The rest of the message cannot be read. */
    abandon(): void {
      if (only === null) return;
      const { code, element, message } = only;
      findings.addLast(code, { line: element.line, xpath: xpathOf(element) }, `${message} ${uncertain}`);
    },
  };
}

/** What is declared, in a group header or a payment, and right. A right sum confirms the count, too. */
interface Confirmed {
  count: boolean;
  sum: boolean;
}

interface WrongDeclaration {
  code: 'WRONG_NUMBER' | 'TRANSACTION_COUNT_MISMATCH' | 'CONTROL_SUM_MISMATCH';
  element: XmlElement;
  message: string;
  /** Null without transactions, or if an amount cannot be read. */
  right: string | null;
  isCount: boolean;
  /** Whether the other declaration beside it confirms what would be right. */
  isConfirmed: boolean;
}

const uncertain = 'A transaction may be missing or wrong: compare the message with its source.';

function createTotals(): Totals {
  return { count: 0, sums: new Map(), isExact: true };
}

/** Counts a transaction. */
function addAmount(totals: Totals, amount: XmlElement | null): void {
  totals.count += 1;
  const units = parseDecimal(textOf(amount) ?? '')?.units;
  if (units === undefined) {
    totals.isExact = false;
    return;
  }
  const currency = currencyOf(amount) ?? 'unknown';
  totals.sums.set(currency, (totals.sums.get(currency) ?? 0n) + units);
}

/** Null if there is no number of transactions. */
function judgeCount(
  element: XmlElement | null,
  { count }: Totals,
  findings: MessageFindings,
): WrongDeclaration | 'right' | null {
  const text = textOf(element);
  if (element === null || text === null) return null;
  const right = count === 0 ? null : String(count);
  const declaration = { element, right, isCount: true, isConfirmed: false };
  if (!/^[0-9]{1,15}$/.test(element.text)) {
    const message = 'NbOfTxs must be a number of 1 to 15 digits.';
    if (Number(text) !== count) return { ...declaration, code: 'WRONG_NUMBER', message };
    findings.add('WRONG_NUMBER', element, message, right);
  } else if (Number(text) !== count) {
    const message = `NbOfTxs is ${Number(text)}, but there are ${count} transactions.`;
    return { ...declaration, code: 'TRANSACTION_COUNT_MISMATCH', message };
  }
  return 'right';
}

/** Null if there is no control sum, or an amount cannot be read. */
function judgeSum(
  element: XmlElement | null,
  { count, sums, isExact }: Totals,
  findings: MessageFindings,
): WrongDeclaration | 'right' | null {
  const text = textOf(element);
  if (element === null || text === null) return null;
  const actual = isExact ? [...sums.values()].reduce((one, other) => one + other, 0n) : null;
  const right = actual === null || count === 0 ? null : printUnits(actual);
  const declaration = { element, right, isCount: false, isConfirmed: false };
  const isNumber = isXmlDecimal(element.text, schemaDecimals.DecimalNumber);
  const stated = parseDecimal(isNumber ? text.replace(/(\.\d*?)0+$/, '$1') : (repairDecimal(text) ?? text));
  const isRight = actual !== null && stated?.units === actual;
  if (!isNumber) {
    const message = 'CtrlSum must be a number with a decimal point, such as 1234.56.';
    if (!isRight) return { ...declaration, code: 'WRONG_NUMBER', message };
    findings.add('WRONG_NUMBER', element, message, right);
  }
  if (actual === null || isRight) return isRight ? 'right' : null;
  const printed = stated === null ? 'another number' : printUnits(stated.units);
  const message = `CtrlSum is ${printed}, but the sum of the amounts is ${printUnits(actual)}.`;
  return { ...declaration, code: 'CONTROL_SUM_MISMATCH', message };
}

export function checkAmount(amount: XmlElement | null, findings: MessageFindings): void {
  if (amount === null) return;
  const currency = currencyOf(amount);
  const given = amount.attributes.Ccy?.trim() ?? '';
  if (currency === null) {
    const capitals = given.toUpperCase();
    const successor = endedCurrencies.get(capitals);
    const message =
      successor === undefined
        ? 'The attribute Ccy must be a currency code of ISO 4217 in capital letters, such as EUR.'
        : `The currency ${capitals} has ended. Write the amount in ${successor}, which has replaced it.`;
    findings.add('CURRENCY_INVALID', amount, message, currencyDecimals.has(capitals) ? capitals : null);
  } else if (currency !== 'EUR') {
    findings.add('CURRENCY_NOT_EUR', amount, `The currency of a SEPA payment must be EUR, not ${currency}.`, 'EUR');
  }
  const text = textOf(amount);
  if (text === null) return;
  const decimal = parseDecimal(text);
  const { isSepa } = findings;
  const limit = isSepa ? 2 : decimalsOf(currency);
  const shown = decimal === null || isSepa ? decimal?.decimals : countDecimals(decimal.units);
  if (decimal === null || (shown ?? 0) > limit) {
    const decimals = limit === 0 ? 'no decimals' : `at most ${limit} decimals`;
    const example = limit === 0 ? '1234' : '1234.56';
    const of = currency === null ? '' : ` in ${currency}`;
    const message = `The amount${of} must be a positive number with ${decimals}, such as ${example}.`;
    const isWhole = decimal !== null && limit === 2 && decimal.units % 1000n === 0n;
    findings.add('AMOUNT_FORMAT', amount, message, isWhole ? printUnits(decimal.units) : repairDecimal(text));
  } else if (decimal.units === 0n || decimal.units > maxEuros) {
    findings.add('AMOUNT_OUT_OF_RANGE', amount, 'The amount must be between 0.01 and 999,999,999.99.');
  }
}

/** Without zeros at the end. */
function countDecimals(units: bigint): number {
  const [, decimals = ''] = printUnits(units).split('.');
  return decimals.replace(/0+$/, '').length;
}

/** All that a message can have, if the currency is unknown. */
function decimalsOf(currency: string | null): number {
  return currency === null ? 5 : (currencyDecimals.get(currency) ?? 2);
}

/** 999,999,999.99 in hundred-thousandths. */
const maxEuros = 99_999_999_999_000n;

/** Null if it is missing, or not a currency code. */
function currencyOf(amount: XmlElement | null): string | null {
  const code = amount?.attributes.Ccy ?? '';
  return currencyDecimals.has(code) ? code : null;
}
