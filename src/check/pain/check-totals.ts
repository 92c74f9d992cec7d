import { find, textOf, type XmlElement } from './elements.ts';
import type { MessageFindings } from './findings.ts';
import { parseDecimal, printUnits, repairDecimal } from './values.ts';

/** The transactions of a message, or of a payment. */
export interface Totals {
  count: number;
  /** By currency, in hundred-thousandths. */
  sums: Map<string, bigint>;
  /** Whether all amounts could be read. */
  isExact: boolean;
}

export function createTotals(): Totals {
  return { count: 0, sums: new Map(), isExact: true };
}

/** Counts a transaction. */
export function addAmount(totals: Totals, amount: XmlElement | null): void {
  totals.count += 1;
  const units = parseDecimal(textOf(amount) ?? '')?.units;
  if (units === undefined) {
    totals.isExact = false;
    return;
  }
  const currency = currencyOf(amount) ?? 'unknown';
  totals.sums.set(currency, (totals.sums.get(currency) ?? 0n) + units);
}

/** Compares the number of transactions and the control sum in a group header or a payment with what is there. */
export function checkTotals(element: XmlElement, totals: Totals, findings: MessageFindings): void {
  const number = find(element, 'NbOfTxs');
  const numberText = textOf(number);
  if (number !== null && numberText !== null) {
    if (!/^\d{1,15}$/.test(numberText)) {
      findings.add('WRONG_NUMBER', number, 'NbOfTxs must be a number of 1 to 15 digits.', String(totals.count));
    } else if (Number(numberText) !== totals.count) {
      const message = `NbOfTxs is ${Number(numberText)}, but there are ${totals.count} transactions.`;
      findings.add('TRANSACTION_COUNT_MISMATCH', number, message, String(totals.count));
    }
  }
  const sum = find(element, 'CtrlSum');
  const sumText = textOf(sum);
  if (sum === null || sumText === null) return;
  const stated = parseDecimal(sumText);
  const actual = totals.isExact ? [...totals.sums.values()].reduce((one, other) => one + other, 0n) : null;
  const right = actual === null ? null : printUnits(actual);
  if (stated === null) {
    const message = 'CtrlSum must be a number with a decimal point and at most five decimals, such as 1234.56.';
    findings.add('WRONG_NUMBER', sum, message, right);
  } else if (actual !== null && stated.units !== actual) {
    const message = `CtrlSum is ${printUnits(stated.units)}, but the sum of the amounts is ${right}.`;
    findings.add('CONTROL_SUM_MISMATCH', sum, message, right);
  }
}

/** @param isSepa whether the payment says that it is SEPA */
export function checkAmount(
  amount: XmlElement | null,
  { isSepa, findings }: { isSepa: boolean; findings: MessageFindings },
): void {
  if (amount === null) return;
  const currency = currencyOf(amount);
  const given = amount.attributes.Ccy?.trim() ?? '';
  if (currency === null) {
    const capitals = given.toUpperCase();
    const message = 'The attribute Ccy must be a currency code of ISO 4217 in capital letters, such as EUR.';
    findings.add('CURRENCY_INVALID', amount, message, currencyCodes.has(capitals) ? capitals : null);
  } else if (isSepa && currency !== 'EUR') {
    findings.add('CURRENCY_NOT_EUR', amount, `The currency of a SEPA payment must be EUR, not ${currency}.`, 'EUR');
  }
  const text = textOf(amount);
  if (text === null) return;
  const decimal = parseDecimal(text);
  const isEuro = isSepa || currency === 'EUR';
  if (decimal === null || (isEuro && decimal.decimals > 2)) {
    const decimals = isEuro ? 'two' : 'five';
    const message = `The amount must be a positive number with a decimal point and at most ${decimals} decimals, such as 1234.56.`;
    const suggestion =
      decimal !== null && decimal.units % 1000n === 0n ? printUnits(decimal.units) : repairDecimal(text);
    findings.add('AMOUNT_FORMAT', amount, message, suggestion);
  } else if (decimal.units === 0n || (isEuro && decimal.units > maxEuros)) {
    findings.add('AMOUNT_OUT_OF_RANGE', amount, 'The amount must be between 0.01 and 999,999,999.99.');
  }
}

/** 999,999,999.99 in hundred-thousandths. */
const maxEuros = 99_999_999_999_000n;

const currencyCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Null if it is missing, or not a currency code. */
function currencyOf(amount: XmlElement | null): string | null {
  const code = amount?.attributes.Ccy ?? '';
  return currencyCodes.has(code) ? code : null;
}
