import type { Signal } from '../../base/async/signal.ts';
import { CallQueue, takePlace } from '../upstream/queue.ts';

interface CheckPlacesOptions {
  /** Requests at a time. */
  places: number;
  /** How long a request may wait for a place, in milliseconds. */
  maxWaitMs: number;
}

/** Limits the requests at a time, and those that wait. One caller has at most half of both, so that others are served meanwhile. */
export function createCheckPlaces({ places, maxWaitMs }: CheckPlacesOptions) {
  const share = Math.ceil(places / 2);
  const all = new CallQueue({ maxConcurrency: places, maxQueue: places * waitingPerPlace });
  const byCaller = new Map<string, CallQueue>();

  return {
    /** @returns a function that gives the place back; null if too many requests wait, or none was free in time */
    async take(caller: string, signal: Signal): Promise<(() => void) | null> {
      const own = byCaller.get(caller) ?? new CallQueue({ maxConcurrency: share, maxQueue: share * waitingPerPlace });
      byCaller.set(caller, own);
      const endsAt = performance.now() + maxWaitMs;
      const hasShare = await takePlace(own, signal, maxWaitMs);
      const hasPlace = hasShare && (await takePlace(all, signal, endsAt - performance.now()));
      const leave = () => {
        if (hasPlace) all.leave();
        if (hasShare) own.leave();
        const { active, queued } = own.status();
        if (active + queued === 0) byCaller.delete(caller);
      };
      if (hasPlace) return leave;
      leave();
      return null;
    },
    /** Callers with requests. */
    callers: () => byCaller.size,
  };
}

const waitingPerPlace = 4;
