import { find, textOf, type XmlElement } from './elements.ts';
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

/** Adds up the amounts of a message and of each payment, and compares them with what its header and the payment say. */
export function createTotalsCheck(findings: MessageFindings) {
  const ofMessage = createTotals();
  let ofPayment = createTotals();
  let groupHeader: XmlElement | null = null;
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
      checkTotals(payment, ofPayment, findings);
    },
    closeMessage(): void {
      if (groupHeader !== null) checkTotals(groupHeader, ofMessage, findings);
    },
  };
}

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

/** Compares the number of transactions and the control sum in a group header or a payment with what is there. */
function checkTotals(element: XmlElement, totals: Totals, findings: MessageFindings): void {
  checkCount(find(element, 'NbOfTxs'), totals, findings);
  const sum = find(element, 'CtrlSum');
  if (sum === null || textOf(sum) === null) return;
  const actual = totals.isExact ? [...totals.sums.values()].reduce((one, other) => one + other, 0n) : null;
  const right = actual === null ? null : printUnits(actual);
  if (!isXmlDecimal(sum.text, schemaDecimals.DecimalNumber)) {
    const message = 'CtrlSum must be a number with a decimal point, such as 1234.56.';
    findings.add('WRONG_NUMBER', sum, message, right);
    return;
  }
  const stated = parseDecimal(sum.text.trim().replace(/(\.\d*?)0+$/, '$1'));
  if (actual === null || stated?.units === actual) return;
  const printed = stated === null ? 'another number' : printUnits(stated.units);
  findings.add('CONTROL_SUM_MISMATCH', sum, `CtrlSum is ${printed}, but the sum of the amounts is ${right}.`, right);
}

function checkCount(number: XmlElement | null, { count }: Totals, findings: MessageFindings): void {
  if (number === null || textOf(number) === null) return;
  if (!/^[0-9]{1,15}$/.test(number.text)) {
    findings.add('WRONG_NUMBER', number, 'NbOfTxs must be a number of 1 to 15 digits.', String(count));
  } else if (Number(number.text) !== count) {
    const message = `NbOfTxs is ${Number(number.text)}, but there are ${count} transactions.`;
    findings.add('TRANSACTION_COUNT_MISMATCH', number, message, String(count));
  }
}

export function checkAmount(amount: XmlElement | null, findings: MessageFindings): void {
  if (amount === null) return;
  const currency = currencyOf(amount);
  const given = amount.attributes.Ccy?.trim() ?? '';
  if (currency === null) {
    const capitals = given.toUpperCase();
    const message = 'The attribute Ccy must be a currency code of ISO 4217 in capital letters, such as EUR.';
    findings.add('CURRENCY_INVALID', amount, message, currencyCodes.has(capitals) ? capitals : null);
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
  return currency === null ? 5 : (decimalsByCurrency.get(currency) ?? 2);
}

/** By ISO 4217, where it is not two. Metals, funds and codes for tests have none of their own. */
const decimalsByCurrency: ReadonlyMap<string, number> = new Map(
  [
    { decimals: 0, codes: 'BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF' },
    { decimals: 3, codes: 'BHD IQD JOD KWD LYD OMR TND' },
    { decimals: 4, codes: 'CLF UYW' },
    { decimals: 5, codes: 'XAG XAU XBA XBB XBC XBD XDR XPD XPT XSU XTS XUA XXX' },
  ].flatMap(({ decimals, codes }) => codes.split(' ').map((code) => [code, decimals] as const)),
);

/** 999,999,999.99 in hundred-thousandths. */
const maxEuros = 99_999_999_999_000n;

const currencyCodes: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

/** Null if it is missing, or not a currency code. */
function currencyOf(amount: XmlElement | null): string | null {
  const code = amount?.attributes.Ccy ?? '';
  return currencyCodes.has(code) ? code : null;
}
