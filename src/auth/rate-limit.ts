import { LRUCache } from 'lru-cache';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RedisConfig } from '../config/redis-url.ts';
import { createKeyHash } from '../stores/key-hash.ts';
import { createRedisConnection } from '../stores/redis-connection.ts';
import type { Events } from '../telemetry/events.ts';
import type { Caller } from './caller.ts';
import { createScriptClient } from './script-client.ts';

export interface RateLimit {
  /** Counts a request. Null if it is permitted; otherwise the seconds until the next one is. Never rejects. */
  count(caller: Pick<Caller, 'id' | 'limits'>): Promise<number | null> | null;
  close(): Promise<void>;
}

interface RateLimitOptions {
  /** Where all gateways count together, and the secret of the store; null: each counts alone. */
  shared: { redis: RedisConfig; secret: string; replicas: number } | null;
  events: Pick<Events, 'rateLimitNotShared'>;
}

/**
 * Requests per minute of each caller, in windows that begin with a request. While Redis fails, each gateway counts in
 * memory and permits its share: the limit divided by the number of replicas, but at least 1.
 */
export function createRateLimit({ shared, events }: RateLimitOptions): RateLimit {
  const connection =
    shared && createRedisConnection({ server: shared.redis, commandTimeoutMs: 1_000, events: noEvents });
  const client = connection && createScriptClient(connection, events.rateLimitNotShared);
  // Callers are identified by names and e-mail addresses, which must not be readable in Redis.
  const hashKey = createKeyHash(shared?.secret ?? '');
  /** By requests per minute: the library has one limit per limiter. */
  const limiters = new LRUCache<number, RateLimiterAbstract>({ max: 1_000 });

  return {
    count({ id, limits: { requestsPerMinute } }) {
      return requestsPerMinute === null ? null : countWithin(requestsPerMinute, client === null ? id : hashKey(id));
    },
    async close() {
      await connection?.close();
    },
  };

  async function countWithin(points: number, key: string): Promise<number | null> {
    let limiter = limiters.get(points);
    if (limiter === undefined) {
      limiter = createLimiter(points);
      limiters.set(points, limiter);
    }
    try {
      await limiter.consume(key);
      return null;
    } catch (rejection) {
      if (rejection instanceof RateLimiterRes) return Math.max(1, Math.ceil(rejection.msBeforeNext / 1_000));
      throw rejection;
    }
  }

  function createLimiter(points: number): RateLimiterAbstract {
    if (client === null || shared === null) return new RateLimiterMemory({ points, duration: durationS });
    const share = Math.max(1, Math.floor(points / shared.replicas));
    return new RateLimiterRedis({
      storeClient: client,
      keyPrefix: 'ledgerquill:rate',
      points,
      duration: durationS,
      insuranceLimiter: new RateLimiterMemory({ points: share, duration: durationS }),
    });
  }
}

const durationS = 60;

/** The store has a connection of its own to the same server, and reports its failures. */
const noEvents = { storeDown() {}, storeUp() {} };
