import type { Store } from '../../stores/store.ts';
import { parseReportedLimit, type ReportedLimit } from './reported-limit.ts';

/** The latest limit that the upstream reported, shared through the store. None of its functions rejects. */
export interface StoredLimit {
  /** Null until one is reported. */
  current(): ReportedLimit | null;
  /** Records a report, unless one for a later call is already recorded. */
  record(report: ReportedLimit): void;
  /** Records and stores when a call was last sent in spite of the report; undefined if it was not sent after all. */
  setProbedAt(probedAt: number | undefined): void;
  /** Forgets a report that turned out to be wrong. */
  discard(): void;
  /** Adds the calls of other processes to the call number of the report. */
  renumber(countedElsewhere: number): void;
  /** Reads what other processes have stored. */
  read(): Promise<void>;
  flush(): Promise<void>;
}

interface StoredLimitOptions {
  store: Store;
  key: string;
  expiresInMs: number;
}

export function createStoredLimit({ store, key, expiresInMs }: StoredLimitOptions): StoredLimit {
  let reported: ReportedLimit | null = null;
  let saved: ReportedLimit | null = null;

  return {
    current: () => reported,
    record(report) {
      // Responses overtake each other; the one to the latest call is the most recent.
      if (reported && report.number < reported.number) return;
      reported = report;
      if (isWorthSaving(report, saved)) void save();
    },
    setProbedAt(probedAt) {
      if (!reported) return;
      const { probedAt: _, ...report } = reported;
      reported = probedAt === undefined ? report : { ...report, probedAt };
      void save();
    },
    discard() {
      reported = null;
      void save();
    },
    renumber(countedElsewhere) {
      if (reported) reported = { ...reported, number: reported.number + countedElsewhere };
    },
    async read() {
      // Without the store, the limit that was reported to this process applies.
      const stored = parseReportedLimit(await store.get(key).catch(() => null));
      if (!stored || (reported && stored.number <= reported.number)) return;
      reported = stored;
      saved = stored;
    },
    async flush() {
      if (reported !== saved) await save();
    },
  };

  async function save(): Promise<void> {
    saved = reported;
    await store.set(key, JSON.stringify(reported), { expiresInMs }).catch(() => {});
  }
}

const saveIntervalMs = 60_000;

/** What remains later is computed from the count, so a report is saved once a minute, or if it changes the limit or is 0. */
function isWorthSaving(latest: ReportedLimit, saved: ReportedLimit | null): boolean {
  if (!saved || latest.limit !== saved.limit || latest.reportedAt - saved.reportedAt >= saveIntervalMs) return true;
  return latest.remaining === 0 && saved.remaining > 0;
}
