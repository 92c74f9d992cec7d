import { beginOfMonth, monthAt, nameOfMonth } from './calendar-month.ts';

/** A calendar day or month (UTC). */
export type Period = 'day' | 'month';

/** Days since 1970, or months since year 0: they compare as numbers. */
export function periodAt(period: Period, timeMs: number): number {
  return period === 'day' ? Math.floor(timeMs / dayMs) : monthAt(timeMs);
}

/** In ISO 8601 format, such as 2026-11-21 or 2026-11. */
export function nameOfPeriod(period: Period, number: number): string {
  return period === 'day' ? beginOfPeriod(period, number).toISOString().slice(0, 10) : nameOfMonth(number);
}

export function beginOfPeriod(period: Period, number: number): Date {
  return period === 'day' ? new Date(number * dayMs) : beginOfMonth(number);
}

const dayMs = 86_400_000;
