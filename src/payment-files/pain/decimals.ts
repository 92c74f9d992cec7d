/** A number of a message, without the errors of binary fractions. */
export interface Decimal {
  /** In hundred-thousandths: ISO 20022 allows five decimals. */
  units: bigint;
  /** How many digits are written after the decimal point. */
  decimals: number;
}

/**
 * Reads a number that is not negative, with at most 18 digits, five of them after the point; null for all other texts.
 * @example
 * parseDecimal('12.50') // => { units: 1250000n, decimals: 2 }
 * parseDecimal('12,50') // => null
 */
export function parseDecimal(text: string): Decimal | null {
  const [, whole = '', fraction = ''] = /^\+?(\d*)\.?(\d*)$/.exec(text) ?? [];
  const digits = whole.length + fraction.length;
  if (digits === 0 || digits > 18 || fraction.length > scale) return null;
  return { units: BigInt(whole + fraction.padEnd(scale, '0')), decimals: fraction.length };
}

/**
 * With at least two decimals.
 * @example
 * printUnits(1250000n) // => '12.50'
 */
export function printUnits(units: bigint): string {
  const digits = units.toString().padStart(scale + 1, '0');
  return `${digits.slice(0, -scale)}.${digits.slice(-scale).replace(/0{1,3}$/, '')}`;
}

/**
 * The number that a text in the notation of a country means, if it is clear; null if not.
 * @example
 * repairDecimal('1.234,5') // => '1234.50'
 * repairDecimal('1.234') // => null
 */
export function repairDecimal(text: string): string | null {
  const compact = text.replaceAll(/[\s'’]/g, '');
  const [, whole, fraction = ''] = /^(\d+|\d{1,3}(?:[.,]\d{3})+)[.,](\d{1,2})$/.exec(compact) ?? [];
  return whole === undefined ? null : `${whole.replaceAll(/[.,]/g, '')}.${fraction.padEnd(2, '0')}`;
}

const scale = 5;
