import * as z from 'zod';
import type { Answered } from '../outcome.ts';

/** The monthly rate limit that the upstream reported with the response to one call. */
export type ReportedLimit = z.infer<typeof reportedLimit>;

const reportedLimit = z.object({
  limit: z.number(),
  remaining: z.number(),
  /** The call's position in the gateway's own count. */
  number: z.number(),
  /** In milliseconds since 1970. */
  reportedAt: z.number(),
  /** When a call was last sent in spite of the report; in milliseconds since 1970. */
  probedAt: z.number().optional(),
});

/**
 * Reads the monthly rate-limit headers; null if there are none. Daily limits are ignored: they reset within hours, and
 * the upstream enforces them itself.
 * @param number the call's position in the gateway's own count
 */
export function readReportedLimit(headers: Answered['headers'], number: number): ReportedLimit | null {
  const limit = readCount(headers['x-ratelimit-limit-month']);
  const remaining = readCount(headers['x-ratelimit-remaining-month']);
  // Some services send 0 or -1 where they have no limit.
  if (limit !== null && limit < 1) return null;
  if (limit === null && remaining === null) return null;
  const remainingCount = Math.max(0, remaining ?? (limit ?? 0) - number);
  return { limit: limit ?? number + remainingCount, remaining: remainingCount, number, reportedAt: Date.now() };
}

/** Null if it is missing or cannot be parsed. */
export function parseReportedLimit(text: string | null): ReportedLimit | null {
  try {
    return text === null ? null : reportedLimit.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The part of the own limit, or of the reported one, that is used: the larger of both. */
export function usedShare(counted: number, limit: number, report: ReportedLimit | null): number {
  const reportedShare = report ? 1 - remainingCalls(report, counted) / report.limit : 0;
  return Math.max(counted / limit, reportedShare);
}

/** Calls that the upstream still accepts, from its report and the calls counted since. */
function remainingCalls({ remaining, number }: ReportedLimit, counted: number): number {
  return Math.max(0, remaining + number - counted);
}

export interface LimitStatus {
  used: number;
  /** Null where no limit is known. */
  limit: number | null;
  remaining: number | null;
}

/** The own limit, or the reported one if that leaves fewer calls. */
export function toLimitStatus(counted: number, limit: number | null, report: ReportedLimit | null): LimitStatus {
  const ownRemaining = limit === null ? null : Math.max(0, limit - counted);
  const remaining = report && remainingCalls(report, counted);
  if (report && remaining !== null && (ownRemaining === null || remaining < ownRemaining)) {
    return { used: Math.max(counted, report.limit - remaining), limit: report.limit, remaining };
  }
  return { used: counted, limit, remaining: ownRemaining };
}

/**
 * The highest number that a call may have. A report older than a day sets no limit: the upstream's month may begin on
 * another day, its plan may have changed, and only the response to a new call shows the current limit.
 */
export function maxCallNumber({ remaining, number, reportedAt }: ReportedLimit): number {
  return elapsedMs(reportedAt) < reportValidMs ? number + remaining : Number.POSITIVE_INFINITY;
}

/** Whether a call may be sent although none remains: the report may be wrong, and only the response to a call shows it. */
export function isProbeDue({ reportedAt, probedAt = reportedAt }: ReportedLimit): boolean {
  return elapsedMs(probedAt) >= probeIntervalMs;
}

/** A date in the future was stored before the clock was set back, and does not block until then. */
function elapsedMs(since: number): number {
  return Math.abs(Date.now() - since);
}

const reportValidMs = 86_400_000;
const probeIntervalMs = 15 * 60_000;

function readCount(header: string | string[] | undefined): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  return /^-?\d{1,9}$/.test(text) ? Number(text) : null;
}
