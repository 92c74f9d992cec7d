import { currencyDecimals, endedCurrencies } from './code-lists.ts';
import { find, textOf, type XmlElement } from './elements.ts';
import { type FoundProblem, type MessageFindings, placeOf } from './findings.ts';
import type { MessageVersion } from './message-versions.ts';
import { findAmount } from './profiles.ts';
import { isXmlDecimal, schemaDecimals } from './schema.ts';
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
  /** The first wrong declaration, while it is the only one, and whether the one beside it confirms what would be right. */
  let only: FoundProblem | null = null;
  let isConfirmed = false;
  let wrong = 0;
  /** Whether all payments confirm what they have. */
  const payments: Confirmed = { count: true, sum: true };

  const judge = (element: XmlElement, totals: Totals): Confirmed => {
    const count = judgeCount(find(element, 'NbOfTxs'), totals, findings);
    const sum = judgeSum(find(element, 'CtrlSum'), totals, findings);
    // A right sum confirms the number of its transactions, but not the reverse: an amount may be wrong.
    addWrong(count.wrong, sum.isRight);
    addWrong(sum.wrong, false);
    return { count: count.isRight || sum.isRight, sum: sum.isRight };
  };
  const addWrong = (problem: FoundProblem | null, isConfirmedBeside: boolean) => {
    if (problem === null) return;
    wrong += 1;
    for (const each of wrong > 1 ? [only, problem] : []) report(each, false);
    [only, isConfirmed] = [wrong > 1 ? null : problem, isConfirmedBeside];
  };
  const report = (problem: FoundProblem | null, isCertain: boolean) => {
    if (problem === null) return;
    const doubt = { message: `${problem.message} ${uncertain}`, suggestion: null };
    findings.addProblem(isCertain ? problem : { ...problem, ...doubt });
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
      report(only, isConfirmed || (only.element.name === 'NbOfTxs' ? others.count : others.sum));
    },
    /** The rest of the message cannot be read. */
    abandon(): void {
      if (only === null) return;
      const { code, element, message } = only;
      findings.addLast(code, placeOf(element), `${message} ${uncertain}`);
    },
  };
}

/** What is declared, in a group header or a payment, and right. A right sum confirms the count, too. */
interface Confirmed {
  count: boolean;
  sum: boolean;
}

/** Neither right nor wrong, if it is not declared, or an amount cannot be read. */
interface Declared {
  isRight: boolean;
  /** Suggests what would be right; null without transactions, or if an amount cannot be read. */
  wrong: FoundProblem | null;
}

const undeclared: Declared = { isRight: false, wrong: null };

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

function judgeCount(element: XmlElement | null, { count }: Totals, findings: MessageFindings): Declared {
  const text = textOf(element);
  if (element === null || text === null) return undeclared;
  const suggestion = count === 0 ? null : String(count);
  const isRight = Number(text) === count;
  if (!/^[0-9]{1,15}$/.test(element.text)) {
    const message = 'NbOfTxs must be a number of 1 to 15 digits.';
    return judgeNotation({ code: 'WRONG_NUMBER', element, message, suggestion }, isRight, findings);
  }
  const message = `NbOfTxs is ${Number(text)}, but there are ${count} transactions.`;
  return { isRight, wrong: isRight ? null : { code: 'TRANSACTION_COUNT_MISMATCH', element, message, suggestion } };
}

function judgeSum(element: XmlElement | null, { count, sums, isExact }: Totals, findings: MessageFindings): Declared {
  const text = textOf(element);
  if (element === null || text === null) return undeclared;
  const actual = isExact ? [...sums.values()].reduce((one, other) => one + other, 0n) : null;
  const suggestion = actual === null || count === 0 ? null : printUnits(actual);
  const isNumber = isXmlDecimal(element.text, schemaDecimals.DecimalNumber);
  const stated = parseDecimal(isNumber ? text.replace(/(\.\d*?)0+$/, '$1') : (repairDecimal(text) ?? text));
  const isRight = actual !== null && stated?.units === actual;
  if (!isNumber) {
    const message = 'CtrlSum must be a number with a decimal point, such as 1234.56.';
    return judgeNotation({ code: 'WRONG_NUMBER', element, message, suggestion }, isRight, findings);
  }
  if (actual === null || isRight) return { isRight, wrong: null };
  const printed = stated === null ? 'another number' : printUnits(stated.units);
  const apart = (stated?.units ?? actual) - actual;
  const difference = stated === null ? '' : ` The difference is ${printUnits(apart < 0n ? -apart : apart)}.`;
  const message = `CtrlSum is ${printed}, but the sum of the amounts is ${printUnits(actual)}.${difference}`;
  return { isRight, wrong: { code: 'CONTROL_SUM_MISMATCH', element, message, suggestion } };
}

/** A right number in a wrong notation confirms the transactions, so what would be right is certain. */
function judgeNotation(problem: FoundProblem, isRight: boolean, findings: MessageFindings): Declared {
  if (isRight) findings.addProblem(problem);
  return { isRight, wrong: isRight ? null : problem };
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
    const other = amount.parent?.name === 'Amt' ? ', or send a foreign payment, without the service level SEPA' : '';
    const message = `The currency of a SEPA payment must be EUR, not ${currency}. Convert the amount to euros${other}.`;
    findings.add('CURRENCY_NOT_EUR', amount, message);
  }
  const text = textOf(amount);
  if (text === null) return;
  const decimal = parseDecimal(text);
  const { isSepa } = findings;
  // All that a message can have, if the currency is unknown.
  const limit = isSepa ? 2 : currency === null ? 5 : (currencyDecimals.get(currency) ?? 2);
  const shown = decimal === null || isSepa ? decimal?.decimals : countDecimals(decimal.units);
  if (decimal === null || (shown ?? 0) > limit) {
    const decimals = limit === 0 ? 'no decimals, such as 1234' : `at most ${limit} decimals, such as 1234.56`;
    const of = currency === null ? '' : ` in ${currency}`;
    const message = `The amount${of} must be a positive number with ${decimals}.`;
    const suggestion = suggestAmount(text, limit);
    const advice = decimal === null || suggestion !== null ? '' : ' Round it, or correct the currency.';
    findings.add('AMOUNT_FORMAT', amount, `${message}${advice}`, suggestion);
  } else if (decimal.units === 0n || decimal.units > maxEuros) {
    findings.add('AMOUNT_OUT_OF_RANGE', amount, 'The amount must be between 0.01 and 999,999,999.99.');
  }
}

/** The same amount with the decimals of its currency; null if it has more, or is no number. */
function suggestAmount(text: string, limit: number): string | null {
  const units = parseDecimal(repairDecimal(text) ?? text)?.units;
  if (units === undefined || countDecimals(units) > limit) return null;
  const [whole = ''] = printUnits(units).split('.');
  return limit === 0 ? whole : printUnits(units);
}

/** Without zeros at the end. */
function countDecimals(units: bigint): number {
  const [, decimals = ''] = printUnits(units).split('.');
  return decimals.replace(/0+$/, '').length;
}

/** 999,999,999.99 in hundred-thousandths. */
const maxEuros = 99_999_999_999_000n;

/** Null if it is missing, or not a currency code. */
function currencyOf(amount: XmlElement | null): string | null {
  const code = amount?.attributes.Ccy ?? '';
  return currencyDecimals.has(code) ? code : null;
}
