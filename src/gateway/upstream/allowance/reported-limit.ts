import * as z from 'zod';
import { parseJson } from '../../../base/parse-json.ts';
import type { Expiry, Store } from '../../stores/store.ts';
import type { Answered } from '../outcome.ts';

export interface LimitStatus {
  used: number;
  /** Null where no limit is known. */
  limit: number | null;
  remaining: number | null;
}

/**
 * The monthly limit that an upstream reports in its responses, shared through the store. It also counts the calls of other
 * users of the same key. None of its functions rejects.
 */
export function createReportedLimit(store: Store, key: string, { expiresInMs }: Expiry) {
  let report: Report | null = null;
  let saved: Report | null = null;

  return {
    /**
     * The highest number that a call may have. A report older than a day sets no limit: the upstream's month may begin on
     * another day, its plan may have changed, and only the response to a new call shows the current limit.
     */
    maxCallNumber(): number {
      if (report === null || elapsedMs(report.reportedAt) >= reportValidMs) return Number.POSITIVE_INFINITY;
      return report.number + report.remaining;
    },
    /** The own limit, or the reported one if that leaves fewer calls. */
    status(counted: number, ownLimit: number | null): LimitStatus {
      const ownRemaining = ownLimit === null ? null : Math.max(0, ownLimit - counted);
      const remaining = report && remainingCalls(report, counted);
      if (report && remaining !== null && (ownRemaining === null || remaining < ownRemaining)) {
        return { used: Math.max(counted, report.limit - remaining), limit: report.limit, remaining };
      }
      return { used: counted, limit: ownLimit, remaining: ownRemaining };
    },
    /** The part of the own limit, or of the reported one, that is used: the larger of both. */
    usedShare(counted: number, ownLimit: number): number {
      const reportedShare = report ? 1 - remainingCalls(report, counted) / report.limit : 0;
      return Math.max(counted / ownLimit, reportedShare);
    },
    /**
     * Reads the report in the headers of a response, and records it unless one for a later call is already recorded.
     * @param number the call's position in the gateway's own count
     * @returns whether there is a report
     */
    record(headers: Answered['headers'], number: number): boolean {
      const latest = readReport(headers, number);
      // Responses overtake each other; the one to the latest call is the most recent. Numbers go back if the count was corrected.
      const isLater = report === null || elapsedMs(report.reportedAt) >= saveIntervalMs;
      if (latest && (isLater || latest.number >= (report?.number ?? 0))) {
        report = latest;
        if (isWorthSaving(latest, saved)) void save();
      }
      return latest !== null;
    },
    /** Adds the calls of other processes to the call number of the report. */
    renumber(countedElsewhere: number): void {
      if (report) report = { ...report, number: report.number + countedElsewhere };
    },
    /** Whether a call may be sent although none remains: only its response shows whether the report is wrong. */
    isProbeDue: () => report !== null && elapsedMs(report.probedAt ?? report.reportedAt) >= probeIntervalMs,
    /** Records and stores when a call was last sent in spite of the report; undefined if it was not sent after all. */
    setProbedAt(probedAt: number | undefined): void {
      if (report) report = { ...report, probedAt };
      void save();
    },
    /** Forgets a report that turned out to be wrong. */
    discard(): void {
      report = null;
      void save();
    },
    /** Reads what other processes have stored. */
    async read(): Promise<void> {
      // Without the store, the limit that was reported to this process applies.
      const text = await store.get(key).catch(() => null);
      const { data: stored } = reportSchema.safeParse(parseJson(text ?? ''));
      if (!stored || (report && stored.number <= report.number)) return;
      report = stored;
      saved = stored;
    },
    async flush(): Promise<void> {
      if (report !== saved) await save();
    },
  };

  async function save(): Promise<void> {
    saved = report;
    await store.set(key, JSON.stringify(report), { expiresInMs }).catch(() => {});
  }
}

/** The limit that the upstream reported with the response to one call. */
type Report = z.infer<typeof reportSchema>;

const reportSchema = z.object({
  limit: z.number(),
  remaining: z.number(),
  /** The call's position in the gateway's own count. */
  number: z.number(),
  /** In milliseconds since 1970. */
  reportedAt: z.number(),
  /** When a call was last sent in spite of the report; in milliseconds since 1970. */
  probedAt: z.number().optional(),
});

const reportValidMs = 86_400_000;
/** A call that is refused is not counted, so a probe costs nothing until more calls were bought. */
const probeIntervalMs = 60_000;
const saveIntervalMs = 60_000;

/** A date in the future was stored before the clock was set back, and does not block until then. */
function elapsedMs(since: number): number {
  return Math.abs(Date.now() - since);
}

/** Calls that the upstream still accepts, from its report and the calls counted since. */
function remainingCalls({ remaining, number }: Report, counted: number): number {
  return Math.max(0, remaining + number - counted);
}

/**
 * The monthly rate-limit headers; null if there are none. Daily limits are ignored: they reset within hours, and the
 * upstream enforces them itself.
 */
function readReport({ limitMonth, remainingMonth }: Answered['headers'], number: number): Report | null {
  if (limitMonth === undefined && remainingMonth === undefined) return null;
  const limit = readCount(limitMonth);
  const remaining = readCount(remainingMonth);
  // Some services send 0 or -1 where they have no limit.
  if (limit !== null && limit < 1) return null;
  if (limit === null && remaining === null) return null;
  const remainingCount = Math.max(0, remaining ?? (limit ?? 0) - number);
  return { limit: limit ?? number + remainingCount, remaining: remainingCount, number, reportedAt: Date.now() };
}

function readCount(header: string | undefined): number | null {
  const text = header?.trim() ?? '';
  return /^-?\d{1,9}$/.test(text) ? Number(text) : null;
}

/** What remains later is computed from the count, so a report is saved once a minute, or if it changes the limit or is 0. */
function isWorthSaving(latest: Report, saved: Report | null): boolean {
  if (!saved || latest.limit !== saved.limit || latest.reportedAt - saved.reportedAt >= saveIntervalMs) return true;
  return latest.remaining === 0 && saved.remaining > 0;
}
