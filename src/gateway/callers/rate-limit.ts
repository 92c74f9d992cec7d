import { LRUCache } from 'lru-cache';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { RedisConfig } from '../config/redis-url.ts';
import { createRedisConnection, type RedisConnection } from '../stores/redis-connection.ts';
import { createKeyHash, StoreError } from '../stores/store.ts';
import type { Events } from '../telemetry/events.ts';
import type { Caller } from './caller.ts';

interface RateLimitOptions {
  /** Where all gateways count together, and the secret of the store; null: each counts alone. */
  shared: { redis: RedisConfig; secret: string } | null;
  /** Number of processes that count together. */
  replicas: number;
  events: Pick<Events, 'rateLimitNotShared'>;
}

/**
 * Counts requests of a caller ahead of time, and permits as many as are left of the limit.
 * @param limit requests per minute @throws if the counter fails
 */
type TakeBlock = (id: string, limit: number, count: number) => Promise<Block>;

/**
 * Requests per minute of each caller, in windows that begin with a request. Each gateway counts a block of requests ahead
 * of time, so that few wait for Redis; a caller is never permitted more than the limit, and less by at most a tenth. While
 * Redis fails, each gateway counts in memory and permits its share: the limit divided by the number of replicas, but at
 * least 1.
 */
export function createRateLimit({ shared, replicas, events }: RateLimitOptions) {
  const takeLocally = createBlocks((options) => new RateLimiterMemory(options));
  // The store has a connection of its own to the same server, and reports its failures.
  const connectionEvents = { storeDown() {}, storeUp() {} };
  const connection =
    shared && createRedisConnection({ server: shared.redis, commandTimeoutMs: 1_000, events: connectionEvents });
  const client = connection && createScriptClient(connection, events.rateLimitNotShared);
  // Callers are identified by names and e-mail addresses, which must not be readable in Redis.
  const hashKey = createKeyHash(shared?.secret ?? '');
  const takeShared = client && createBlocks((options) => new RateLimiterRedis({ ...options, storeClient: client }));
  const permitsById = new LRUCache<string, Permits>({ max: 10_000 });

  return {
    /**
     * Counts a request. Null if it is permitted; otherwise the seconds until the next one is. A promise only while a block
     * of requests is counted, which is rare far from the limit. Never rejects.
     */
    count({ id, limits: { requestsPerMinute } }: Pick<Caller, 'id' | 'limits'>) {
      if (requestsPerMinute === null) return null;
      let permits = permitsById.get(id);
      if (permits?.limit !== requestsPerMinute) {
        permits = new Permits(requestsPerMinute, replicas, createTakeBlock(id, requestsPerMinute));
        permitsById.set(id, permits);
      }
      return permits.use();
    },
    async close() {
      await connection?.close();
    },
  };

  function createTakeBlock(id: string, limit: number): (count: number) => Promise<Block> {
    if (takeShared === null) return (count) => takeLocally(id, limit, count);
    const key = hashKey(id);
    const share = Math.max(1, Math.floor(limit / replicas));
    return async (count) => {
      try {
        return await takeShared(key, limit, count);
      } catch {
        const block = await takeLocally(key, share, count);
        return { ...block, validMs: Math.min(block.endsInMs, outageMs) };
      }
    };
  }
}

/** While Redis fails, it is called again this often for each caller. */
const outageMs = 1_000;

/** Requests that were counted together. */
interface Block {
  /** How many of them are permitted. */
  granted: number;
  /** How many more are permitted in the same window. */
  remaining: number;
  /** Time until the window ends. */
  endsInMs: number;
  /** How long the block may be used. */
  validMs: number;
}

type LimiterOptions = Readonly<{ keyPrefix: string; points: number; duration: number }>;

function createBlocks(createLimiter: (options: LimiterOptions) => RateLimiterAbstract): TakeBlock {
  /** Limiters by their requests per minute: the library has one limit per limiter. */
  const limiters = new LRUCache<number, RateLimiterAbstract>({
    max: 1_000,
    memoMethod: (points) => createLimiter({ keyPrefix: 'ledgerquill:rate', points, duration: 60 }),
  });
  return async (id, limit, count) => {
    const limiter = limiters.memo(limit);
    const result = await limiter.consume(id, count).catch((rejection: unknown) => {
      if (rejection instanceof RateLimiterRes) return rejection;
      throw rejection;
    });
    const { consumedPoints, remainingPoints: remaining, msBeforeNext } = result;
    const granted = Math.max(0, Math.min(count, limiter.points - (consumedPoints - count)));
    return { granted, remaining, endsInMs: msBeforeNext, validMs: msBeforeNext };
  };
}

/**
 * The requests of one caller that were counted ahead of time. A block is a twentieth of what remains, over all gateways,
 * so that idle gateways hold less than a tenth; near the limit it is one request. The next block is taken when half of one
 * is used.
 */
class Permits {
  readonly limit: number;
  readonly #replicas: number;
  readonly #takeBlock: (count: number) => Promise<Block>;
  #left = 0;
  #blockSize = 1;
  #remaining = 0;
  #endsAt = 0;
  #validUntil = 0;
  #waiting = 0;
  #taking: Promise<void> | null = null;

  /** @param limit requests per window @param replicas how many gateways count together */
  constructor(limit: number, replicas: number, take: (count: number) => Promise<Block>) {
    this.limit = limit;
    this.#replicas = replicas;
    this.#takeBlock = take;
  }

  /** Null if a request is permitted; otherwise the seconds until the next one is. */
  use(): Promise<number | null> | number | null {
    const now = performance.now();
    if (now >= this.#validUntil) {
      this.#left = 0;
      this.#remaining = 0;
    } else if (this.#left > 0) {
      this.#left -= 1;
      const isHalfUsed = 2 * this.#left < this.#blockSize;
      if (isHalfUsed && this.#remaining >= this.#blockSize && this.#blockSize > 1) this.#startTaking();
      return null;
    } else if (this.#remaining === 0 && this.#taking === null) {
      return this.#secondsLeft(now);
    }
    return this.#wait();
  }

  async #wait(): Promise<number | null> {
    this.#waiting += 1;
    do await this.#startTaking();
    while (this.#left === 0 && this.#remaining > 0);
    this.#waiting -= 1;
    if (this.#left === 0) return this.#secondsLeft(performance.now());
    this.#left -= 1;
    return null;
  }

  #startTaking(): Promise<void> {
    this.#taking ??= this.#take().finally(() => {
      this.#taking = null;
    });
    return this.#taking;
  }

  async #take(): Promise<void> {
    this.#blockSize = Math.max(1, Math.floor(this.#remaining / (20 * this.#replicas)));
    const count = Math.min(this.limit, Math.max(this.#blockSize, this.#waiting));
    // Measured before Redis responds, so that the window does not end later here than in Redis.
    const startedAt = performance.now();
    const { granted, remaining, endsInMs, validMs } = await this.#takeBlock(count);
    const isSameWindow = startedAt < this.#validUntil && Math.abs(startedAt + endsInMs - this.#endsAt) < sameWindowMs;
    this.#left = granted + (isSameWindow ? this.#left : 0);
    this.#remaining = remaining;
    this.#endsAt = startedAt + endsInMs;
    this.#validUntil = startedAt + validMs;
  }

  #secondsLeft(now: number): number {
    return Math.max(1, Math.ceil((this.#endsAt - now) / 1_000));
  }
}

/** More than the time of a call to Redis can vary. */
const sameWindowMs = 2_000;

/**
 * What rate-limiter-flexible uses of an ioredis client, over a connection that fails at once while Redis is down.
 * @param onFailed called with the reason of each failure
 */
function createScriptClient({ run }: RedisConnection, onFailed: (reason: string) => void) {
  let script = '';
  return {
    defineCommand(_name: string, { lua }: { lua: string }) {
      script = lua;
    },
    /** @param args one key, then the arguments of the script */
    async rlflxIncr(args: readonly string[]): Promise<unknown> {
      try {
        return await run((redis) => redis.eval(script, 1, ...args));
      } catch (error) {
        onFailed(error instanceof StoreError ? error.reason : 'unusable');
        throw error;
      }
    },
  };
}
