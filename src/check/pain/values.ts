import { isIsoDate, isoDateOf } from '../../base/calendar-period.ts';
import { countryCodes } from '../../iban/country-codes.ts';
import { calcCheckDigits } from '../../iban/mod97.ts';

/* Texts of a message, read as values. */

/**
 * The calendar day of an `ISODate`, without its time zone; null if it is not one.
 * @example
 * parseDate('2026-11-30Z') // => '2026-11-30'
 * parseDate('2026-02-30') // => null
 */
export function parseDate(text: string): string | null {
  const [, day, zone] = /^(\d{4}-\d\d-\d\d)(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  return day !== undefined && isIsoDate(day) && isTimeZone(zone) ? day : null;
}

/** The calendar day of an `ISODateTime`, which may end with 24:00:00; null if it is not one. */
export function parseDateTime(text: string): string | null {
  const [, day, time, fraction, zone] =
    /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  if (day === undefined || time === undefined || !isIsoDate(day) || !isTimeZone(zone)) return null;
  const isMidnight = time === '24:00:00' && !/[1-9]/.test(fraction ?? '');
  return isMidnight || /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d$/.test(time) ? day : null;
}

/** At most 14 hours from UTC, as XML Schema says. */
function isTimeZone(zone = 'Z'): boolean {
  return zone === 'Z' || /^[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00)$/.test(zone);
}

/**
 * Whether TARGET, the settlement system of the euro, is closed on this day.
 * @example
 * isTargetClosed('2027-03-26') // => true
 * isTargetClosed('2026-11-30') // => false
 */
export function isTargetClosed(day: string): boolean {
  const date = new Date(day);
  const weekday = date.getUTCDay();
  if (weekday === 0 || weekday === 6) return true;
  if (closedEachYear.has(day.slice(5))) return true;
  const sinceEaster = (date.getTime() - easterSunday(date.getUTCFullYear())) / dayMs;
  return sinceEaster === -2 || sinceEaster === 1;
}

/** The next day on which TARGET is open. */
export function nextTargetDay(day: string): string {
  const next = addDays(day, 1);
  return isTargetClosed(next) ? nextTargetDay(next) : next;
}

export function addDays(day: string, days: number): string {
  return isoDateOf(Date.parse(day) + days * dayMs);
}

const closedEachYear: ReadonlySet<string> = new Set(['01-01', '05-01', '12-25', '12-26']);
const dayMs = 86_400_000;

/** In milliseconds since 1970; by the algorithm of Oudin for the Gregorian calendar. */
function easterSunday(year: number): number {
  const golden = year % 19;
  const century = Math.floor(year / 100);
  const leap = century - Math.floor(century / 4);
  const moon = (19 * golden + leap - Math.floor((8 * century + 13) / 25) + 15) % 30;
  const full = moon === 29 || (moon === 28 && golden > 10) ? moon - 1 : moon;
  return Date.UTC(year, 2, 28 + full - ((year + Math.floor(year / 4) + full + 2 - leap) % 7));
}

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

/**
 * What is wrong with a SEPA creditor identifier, in one sentence that does not contain it; null if it is valid. Its fifth to seventh
 * character, the business code, are free, and not covered by the check digits.
 * @example
 * describeCreditorIdProblem('DE98ZZZ09999999999') // => null
 * describeCreditorIdProblem('DE97ZZZ09999999999') // => 'Its check digits do not match.'
 */
export function describeCreditorIdProblem(id: string): string | null {
  const [, country = '', checkDigits, national = ''] = /^([A-Z]{2})(\d\d)[A-Z0-9]{3}(\S{1,28})$/.exec(id) ?? [];
  if (national === '') {
    return 'It must be a country code, two check digits, three letters or digits, and the national identifier of at most 28.';
  }
  if (!countryCodes.has(country)) return 'It must begin with a country code of ISO 3166-1.';
  const covered = national.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  return calcCheckDigits(country, covered) === checkDigits ? null : 'Its check digits do not match.';
}
