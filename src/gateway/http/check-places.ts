import type { Signal } from '../../base/async/signal.ts';
import { Deadline } from '../upstream/deadline.ts';
import { type CallQueue, createCallQueue } from '../upstream/queue.ts';

interface CheckPlacesOptions {
  /** Requests at a time. */
  places: number;
  /** How long a request may wait for a place, in milliseconds. */
  maxWaitMs: number;
}

/** Limits the requests at a time, and those that wait. One caller has at most half of both, so that others are served meanwhile. */
export function createCheckPlaces({ places, maxWaitMs }: CheckPlacesOptions) {
  const share = Math.ceil(places / 2);
  const all = createCallQueue({ maxConcurrency: places, maxQueue: places * waitingPerPlace });
  const byCaller = new Map<string, CallQueue>();

  return {
    /** @returns a function that gives the place back; null if too many requests wait, or none was free in time */
    async take(caller: string, signal: Signal): Promise<(() => void) | null> {
      const own = byCaller.get(caller) ?? createCallQueue({ maxConcurrency: share, maxQueue: share * waitingPerPlace });
      byCaller.set(caller, own);
      const deadline = new Deadline(signal, maxWaitMs);
      const request = Symbol('request');
      const hasShare = await own.enter(request, deadline);
      const hasPlace = hasShare && (await all.enter(request, deadline));
      deadline.end();
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
