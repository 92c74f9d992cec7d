/**
 * The calendar day of an `ISODate`, without its time zone; null if it is not one.
 * @example
 * parseDate('2026-11-30Z') // => '2026-11-30'
 * parseDate('2026-02-30') // => null
 */
export function parseDate(text: string): string | null {
  const [, day] = /^(\d{4}-\d\d-\d\d)(?:Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  return day !== undefined && isDay(day) ? day : null;
}

/** The calendar day of an `ISODateTime`; null if it is not one. */
export function parseDateTime(text: string): string | null {
  const [, day, time] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)?$/.exec(text) ?? [];
  return day !== undefined && time !== undefined && isDay(day) && time <= '23:59:59' && isTime(time) ? day : null;
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

const closedEachYear: ReadonlySet<string> = new Set(['01-01', '05-01', '12-25', '12-26']);
const dayMs = 86_400_000;

/** In milliseconds since 1970; by the algorithm of Meeus, Jones and Butcher for the Gregorian calendar. */
function easterSunday(year: number): number {
  const golden = year % 19;
  const century = Math.floor(year / 100);
  const yearOfCentury = year % 100;
  const correction = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3);
  const epact = (19 * golden + century - Math.floor(century / 4) - correction + 15) % 30;
  const weekday = (32 + 2 * (century % 4) + 2 * Math.floor(yearOfCentury / 4) - epact - (yearOfCentury % 4)) % 7;
  const late = Math.floor((golden + 11 * epact + 22 * weekday) / 451);
  const sum = epact + weekday - 7 * late + 114;
  return Date.UTC(year, Math.floor(sum / 31) - 1, (sum % 31) + 1);
}

function isDay(day: string): boolean {
  const date = new Date(day);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}

function isTime(time: string): boolean {
  return !Number.isNaN(Date.parse(`1970-01-01T${time}Z`));
}
