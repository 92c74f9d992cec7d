import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import type { RedisConfig } from '../config/redis-url.ts';
import { createRedisConnection } from '../stores/redis-connection.ts';
import { createKeyHash } from '../stores/store.ts';
import type { Events } from '../telemetry/events.ts';
import type { Caller } from './caller.ts';
import { Permits, type TakePermits, takeFrom } from './permits.ts';
import { createScriptClient } from './script-client.ts';

export interface RateLimit {
  /**
   * Counts a request. Null if it is permitted; otherwise the seconds until the next one is. A promise only while a block
   * of requests is counted, which is rare far from the limit. Never rejects.
   */
  count(caller: Pick<Caller, 'id' | 'limits'>): Promise<number | null> | number | null;
  close(): Promise<void>;
}

interface RateLimitOptions {
  /** Where all gateways count together, and the secret of the store; null: each counts alone. */
  shared: { redis: RedisConfig; secret: string; replicas: number } | null;
  events: Pick<Events, 'rateLimitNotShared'>;
}

/**
 * Requests per minute of each caller, in windows that begin with a request. Each gateway counts a block of requests ahead
 * of time, so that few wait for Redis; a caller is never permitted more than the limit, and less by at most a tenth. While
 * Redis fails, each gateway counts in memory and permits its share: the limit divided by the number of replicas, but at
 * least 1.
 */
export function createRateLimit({ shared, events }: RateLimitOptions): RateLimit {
  const connection =
    shared && createRedisConnection({ server: shared.redis, commandTimeoutMs: 1_000, events: noEvents });
  const client = connection && createScriptClient(connection, events.rateLimitNotShared);
  // Callers are identified by names and e-mail addresses, which must not be readable in Redis.
  const hashKey = createKeyHash(shared?.secret ?? '');
  const replicas = shared?.replicas ?? 1;
  /** By requests per minute: the library has one limit per limiter. */
  const limiters = new LRUCache<number, (key: string) => TakePermits>({ max: 1_000 });
  const permitsById = new LRUCache<string, Permits>({ max: 10_000 });

  return {
    count({ id, limits: { requestsPerMinute } }) {
      if (requestsPerMinute === null) return null;
      let permits = permitsById.get(id);
      if (permits === undefined || permits.limit !== requestsPerMinute) {
        const take = limiterOf(requestsPerMinute)(client === null ? id : hashKey(id));
        permits = new Permits({ limit: requestsPerMinute, replicas, take });
        permitsById.set(id, permits);
      }
      return permits.use();
    },
    async close() {
      await connection?.close();
    },
  };

  function limiterOf(points: number): (key: string) => TakePermits {
    const limiter = limiters.get(points) ?? createLimiter(points);
    limiters.set(points, limiter);
    return limiter;
  }

  function createLimiter(points: number): (key: string) => TakePermits {
    const share = client === null ? points : Math.max(1, Math.floor(points / replicas));
    const local = new RateLimiterMemory({ points: share, duration: durationS });
    const takeLocally = (key: string, count: number) => takeFrom(local, key, count);
    if (client === null) return (key) => (count) => takeLocally(key, count);
    const keyPrefix = 'ledgerquill:rate';
    const redis = new RateLimiterRedis({ storeClient: client, keyPrefix, points, duration: durationS });
    return (key) => async (count) => {
      try {
        return await takeFrom(redis, key, count);
      } catch {
        const taken = await takeLocally(key, count);
        return { ...taken, validMs: Math.min(taken.endsInMs, outageMs) };
      }
    };
  }
}

const durationS = 60;

/** While Redis fails, it is called again this often for each caller. */
const outageMs = 1_000;

/** The store has a connection of its own to the same server, and reports its failures. */
const noEvents = { storeDown() {}, storeUp() {} };
