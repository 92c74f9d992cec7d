import { type ServiceName, serviceNames } from './errors.ts';

/** An amount of one currency, as a whole number of millionths: sums of it are exact. */
export interface Money {
  millionths: number;
  /** ISO 4217, such as EUR. */
  currency: string;
}

/**
 * Null for another format, more than six decimals, or nothing.
 * @example
 * parseMoney('0.0125 EUR') // => { millionths: 12_500, currency: 'EUR' }
 * parseMoney('0,01 EUR') // => null
 */
export function parseMoney(text: string): Money | null {
  const [, whole = '', decimals = '', currency = ''] = /^(\d{1,9})(?:\.(\d{1,6}))? ([A-Z]{3})$/.exec(text) ?? [];
  const millionths = Number(whole + decimals.padEnd(6, '0'));
  return currency !== '' && millionths > 0 ? { millionths, currency } : null;
}

/**
 * With two decimals at least.
 * @example
 * formatAmount(12_500n) // => '0.0125'
 * formatAmount(3_000_000n) // => '3.00'
 */
export function formatAmount(millionths: bigint): string {
  const digits = String(millionths).padStart(7, '0');
  return `${digits.slice(0, -6)}.${digits.slice(-6).replace(/0{1,4}$/, '')}`;
}

export function formatMoney({ millionths, currency }: Money): string {
  return `${formatAmount(BigInt(millionths))} ${currency}`;
}

/** What a call to each service costs; null: not known. */
export type Prices = Readonly<Record<ServiceName, Money | null>>;

export const noPrices: Prices = { 'bank-data': null, essays: null };

/** What calls cost, each currency apart: amounts of several are never added. Undefined if no service has a price. */
export function priceOf(calls: { bankData: number; essays: number }, prices: Prices = noPrices): string[] | undefined {
  if (prices['bank-data'] === null && prices.essays === null) return undefined;
  const sums = new Map<string, bigint>();
  for (const service of serviceNames) {
    const { millionths, currency } = prices[service] ?? nothing;
    const count = service === 'essays' ? calls.essays : calls.bankData;
    sums.set(currency, (sums.get(currency) ?? 0n) + BigInt(count) * BigInt(millionths));
  }
  return [...sums].filter(([, sum]) => sum > 0n).map(([currency, sum]) => `${formatAmount(sum)} ${currency}`);
}

const nothing: Money = { millionths: 0, currency: '' };
