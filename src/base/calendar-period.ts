/** A calendar day or month (UTC). */
export type Period = 'day' | 'month';

/** Days since 1970, or months since year 0: they compare as numbers. */
export function periodAt(period: Period, timeMs: number): number {
  if (period === 'day') return Math.floor(timeMs / dayMs);
  const time = new Date(timeMs);
  return time.getUTCFullYear() * 12 + time.getUTCMonth();
}

/** In ISO 8601 format, such as 2026-11-21 or 2026-11. */
export function nameOfPeriod(period: Period, number: number): string {
  return beginOfPeriod(period, number)
    .toISOString()
    .slice(0, period === 'day' ? 10 : 7);
}

export function beginOfPeriod(period: Period, number: number): Date {
  return new Date(period === 'day' ? number * dayMs : Date.UTC(Math.floor(number / 12), number % 12));
}

const dayMs = 86_400_000;

/** Whether a text is a day of the calendar in ISO 8601, such as `2026-11-21`. */
export function isIsoDate(text: string): boolean {
  const time = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && isoDateOf(time) === text;
}

/** The day of a time (UTC), such as `2026-11-21`; today without one. */
export function isoDateOf(timeMs: number = Date.now()): string {
  return new Date(timeMs).toISOString().slice(0, 10);
}
