/** Months since year 0 (UTC), which compare as numbers. */
export function monthAt(timeMs: number): number {
  const time = new Date(timeMs);
  return time.getUTCFullYear() * 12 + time.getUTCMonth();
}

/** In ISO 8601 format, such as 2026-11. */
export function nameOfMonth(month: number): string {
  return beginOfMonth(month).toISOString().slice(0, 7);
}

export function beginOfMonth(month: number): Date {
  return new Date(Date.UTC(Math.floor(month / 12), month % 12));
}
