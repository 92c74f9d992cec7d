import type { Store } from '../../stores/store.ts';
import { type ReportedLimit, readStoredLimit } from './reported-limit.ts';

/** The latest limit that the upstream reported, shared through the store. None of its functions rejects. */
export interface StoredLimit {
  /** Null until one is reported. */
  current(): ReportedLimit | null;
  /** Records a report, unless a later call has reported already. */
  record(report: ReportedLimit): void;
  /** Moves the call number of the report by calls that joined the count. */
  renumber(jump: number): void;
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
    renumber(jump) {
      if (reported) reported = { ...reported, number: reported.number + jump };
    },
    async read() {
      // Without the store, the limit that was reported to this process applies.
      const stored = readStoredLimit(await store.get(key).catch(() => null));
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

/** Later calls are in the count, so it is enough to save once a minute, and at once when nothing is left. */
function isWorthSaving(latest: ReportedLimit, saved: ReportedLimit | null): boolean {
  if (!saved || latest.limit !== saved.limit || latest.reportedAt - saved.reportedAt >= saveIntervalMs) return true;
  return latest.remaining === 0 && saved.remaining > 0;
}
