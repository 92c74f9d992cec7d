import type { Signal } from '../../async/signal.ts';
import type { EssayJob, EssayJobState } from '../essays.ts';

/** A job that somebody watches. */
interface Watched {
  /** Undefined until it was read. */
  latest: EssayJob | null | undefined;
  /** Called when `latest` has changed. */
  wake: Set<() => void>;
}

/**
 * Lets any number of watchers see the latest state of a job. Each of them holds one state at most: one that reads slowly misses
 * states, and delays nobody.
 */
export function createJobWatch(read: (key: string) => Promise<EssayJob | null>) {
  const watched = new Map<string, Watched>();
  let isClosed = false;

  return {
    watch,
    refresh: (key: string) => void refresh(key).catch(() => {}),
    /** Reads all watched jobs: those of other processes change without notice. @throws StoreError */
    refreshAll: async () => void (await Promise.all([...watched.keys()].map(refresh))),
    /** Ends all watches. */
    close(): void {
      isClosed = true;
      for (const { wake } of watched.values()) for (const wakeUp of wake) wakeUp();
    },
  };

  /** Ends when the job has ended, or with the signal. @throws StoreError if the job cannot be read at first */
  async function* watch(key: string, signal: Signal): AsyncGenerator<EssayJob | null> {
    const job = watched.get(key) ?? { latest: undefined, wake: new Set() };
    let wakeUp = () => {};
    const onWake = () => wakeUp();
    watched.set(key, job);
    job.wake.add(onWake);
    signal.addEventListener('abort', onWake);
    try {
      if (job.latest === undefined) await refresh(key);
      let shown: EssayJob | null | undefined;
      while (!signal.aborted && !isClosed) {
        const { latest } = job;
        if (latest !== undefined && latest !== shown) {
          shown = latest;
          yield latest;
          if (latest === null || isEnded(latest.state)) return;
          continue;
        }
        await new Promise<void>((resolve) => {
          wakeUp = resolve;
        });
      }
    } finally {
      signal.removeEventListener('abort', onWake);
      job.wake.delete(onWake);
      if (job.wake.size === 0) watched.delete(key);
    }
  }

  async function refresh(key: string): Promise<void> {
    const job = watched.get(key);
    if (job === undefined) return;
    const latest = await read(key);
    if (job.latest !== undefined && isSame(job.latest, latest)) return;
    job.latest = latest;
    for (const wakeUp of job.wake) wakeUp();
  }
}

export function isEnded({ kind }: EssayJobState): boolean {
  return kind !== 'queued' && kind !== 'writing';
}

function isSame(one: EssayJob | null, other: EssayJob | null): boolean {
  if (one === null || other === null) return one === other;
  const [first, second] = [one.state, other.state];
  if (first.kind === 'queued' && second.kind === 'queued') return first.position === second.position;
  if (first.kind === 'writing' && second.kind === 'writing') return first.textSoFar === second.textSoFar;
  return first.kind === second.kind && !isEnded(second);
}
