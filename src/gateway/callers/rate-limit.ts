import { createCountAhead } from '../stores/count-ahead.ts';
import type { Replicas } from '../stores/gateway-count.ts';
import type { Store } from '../stores/store.ts';
import type { Events } from '../telemetry/events.ts';

interface RateLimitOptions {
  /** Where all gateways count together; null: each counts alone. */
  store: Pick<Store, 'add'> | null;
  replicas: Replicas;
  events: Pick<Events, 'rateLimitNotShared'>;
}

/**
 * Requests of each caller per minute of the clock. Each gateway counts a block of requests ahead of time, so that few wait for
 * Redis; a caller is never permitted more than the limit, and less by at most a tenth. While Redis fails, each gateway counts in
 * memory and permits its share: the limit divided by the number of replicas, but at least 1.
 */
export function createRateLimit({ store, replicas, events }: RateLimitOptions) {
  let minute = 0;
  /** The counts of this minute, by caller. */
  let counts = new Map<string, ReturnType<typeof createMinuteCount>>();

  return {
    /**
     * Counts a request. Null if it is permitted; otherwise the seconds until the next one is. A promise only while a block
     * of requests is counted, which is rare far from the limit. Never rejects.
     */
    count(id: string, requestsPerMinute: number) {
      const present = Math.floor(Date.now() / minuteMs);
      // A clock that is set back a little does not begin the last minute again.
      if (present !== minute && present !== minute - 1) {
        minute = present;
        counts = new Map();
      }
      let count = counts.get(id);
      if (count?.limit !== requestsPerMinute) {
        count = createMinuteCount(id, requestsPerMinute);
        counts.set(id, count);
      }
      return count.use((minute + 1) * minuteMs);
    },
  };

  function gateways(): number {
    const known = replicas?.() ?? 1;
    return Number.isFinite(known) ? known : 2;
  }

  function createMinuteCount(id: string, limit: number) {
    const count = createCountAhead({
      store: store ?? createCounter(),
      key: `rate:${id}:${minute}`,
      // The clocks of processes may differ.
      expiresInMs: 3 * minuteMs,
      // One that the others have not counted yet permits a half: requests cost less than calls.
      replicas: () => Math.min(gateways(), limit),
      // A twentieth of what remains, over all gateways, so that idle gateways hold less than a tenth; near the limit, none.
      blockSize: () => Math.floor((limit - count.current()) / (20 * gateways())),
      isLasting: false,
      onStoreFailed: events.rateLimitNotShared,
    });
    return { limit, use };

    function use(endsAt: number): Promise<number | null> | number | null {
      if (count.current() >= limit) return secondsUntil(endsAt);
      return count.take() === null ? addOne(endsAt) : null;
    }

    async function addOne(endsAt: number): Promise<number | null> {
      if ((await count.add()) <= limit) return null;
      count.subtract();
      return secondsUntil(endsAt);
    }
  }
}

const minuteMs = 60_000;

function secondsUntil(endsAt: number): number {
  return Math.max(1, Math.ceil((endsAt - Date.now()) / 1_000));
}

/** A counter of this process alone. */
function createCounter(): Pick<Store, 'add'> {
  let sum = 0;
  return {
    async add(_key, amount) {
      sum += amount;
      return { sum, id: '', restored: 0 };
    },
  };
}
