import type { RestAnswer } from '../upstream-client.ts';

/** What the upstream said with the answer to one call: how many it takes in a month, and how many it takes after this one. */
export interface ToldLimit {
  limit: number;
  remaining: number;
  /** The call's number in our own count. */
  number: number;
  /** In milliseconds since 1970. */
  toldAt: number;
}

/**
 * Reads the headers about the month; null where there are none. Those about the day are left alone: a day renews within
 * hours, and the upstream itself turns away what is too much for one.
 */
export function readToldLimit(
  headers: RestAnswer['headers'],
  { number, toldAt }: Pick<ToldLimit, 'number' | 'toldAt'>,
): ToldLimit | null {
  const limit = readCount(headers['x-ratelimit-limit-month']);
  const remaining = readCount(headers['x-ratelimit-remaining-month']);
  // Some services say 0 or -1 where they have no limit.
  if (limit !== null && limit < 1) return null;
  if (limit === null && remaining === null) return null;
  const left = Math.max(0, remaining ?? (limit ?? 0) - number);
  return { limit: limit ?? number + left, remaining: left, number, toldAt };
}

/** How many calls the upstream still takes, by what it said and what we sent since. */
export function remainingOf({ remaining, number }: ToldLimit, counted: number): number {
  return Math.max(0, remaining + number - counted);
}

/**
 * The highest number that a call may have. What was said more than a day ago sets no bound: the month of an upstream may
 * begin on another day than ours, its plan may have changed, and only a call finds out.
 */
export function ceilingOf({ remaining, number, toldAt }: ToldLimit, now: number): number {
  return now - toldAt < aDayMs ? number + remaining : Number.POSITIVE_INFINITY;
}

const aDayMs = 86_400_000;

function readCount(header: string | string[] | undefined): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  return /^-?\d{1,9}$/.test(text) ? Number(text) : null;
}
