import { createRequire } from 'node:module';
import type { Redis } from 'ioredis';
import type { RedisConfig } from '../config/redis-url.ts';
import { StoreError } from './store.ts';

export interface RedisConnectionOptions {
  server: RedisConfig;
  /** Time limit for a command, and for the wait of the first commands for the connection. */
  commandTimeoutMs: number;
  /** Fired whenever the connection changes; the reason contains no address and no credentials. */
  events: { storeDown(reason: string): void; storeUp(): void };
}

export interface RedisConnection {
  /** Runs a command. Fails at once while Redis is down. @throws StoreError */
  run<T>(command: (redis: Redis) => Promise<T>): Promise<T>;
  isUp(): boolean;
  close(): Promise<void>;
}

/** Reconnects in the background; only the first commands wait for the connection. */
export function createRedisConnection({ server, commandTimeoutMs, events }: RedisConnectionOptions): RedisConnection {
  const { database, tls, ...address } = server;
  // Loaded only if Redis is configured: it takes 20 ms and 5 MB.
  const ioredis: typeof import('ioredis') = createRequire(import.meta.url)('ioredis');
  const redis = new ioredis.Redis({
    ...address,
    db: database,
    ...(tls && { tls: {} }),
    commandTimeout: commandTimeoutMs,
    // A command whose response was lost may have been executed, so it is not sent again.
    autoResendUnfulfilledCommands: false,
    // The commands of one turn of the event loop are one write to the socket. Reads are batched by the store.
    enableAutoPipelining: true,
    autoPipeliningIgnoredCommands: ['mget'],
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: reconnectDelayMs,
    connectTimeout: Math.max(commandTimeoutMs, 2_000),
    disconnectTimeout: 100,
    maxLoadingRetryTime: 1_000,
    keepAlive: 30_000,
    disableClientInfo: true,
  });
  let state: 'connecting' | 'up' | 'down' | 'closed' = 'connecting';
  let lastError: string | null = null;
  let stopWaiting = () => {};
  const firstConnect = new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, commandTimeoutMs);
    stopWaiting = () => {
      clearTimeout(timer);
      resolve();
    };
  });

  redis.on('connecting', () => {
    lastError = null;
  });
  redis.on('ready', () => {
    // If Redis rejects the database number, ioredis would continue with database 0.
    if (lastError !== null) redis.disconnect(true);
    if (lastError !== null || state === 'closed') return;
    state = 'up';
    stopWaiting();
    events.storeUp();
  });
  redis.on('error', (error) => {
    lastError = reasonOf(error);
  });
  redis.on('close', () => markDown(lastError ?? 'connection lost'));

  function markDown(reason: string): void {
    if (state === 'down' || state === 'closed') return;
    state = 'down';
    stopWaiting();
    events.storeDown(reason);
  }

  return {
    async run(command) {
      if (state === 'connecting') await firstConnect;
      if (state !== 'up') throw new StoreError(state === 'closed' ? 'closed' : 'not connected');
      try {
        return await command(redis);
      } catch (error) {
        const reason = reasonOf(error);
        // The server may be unreachable although the connection is open; reconnecting shows whether it is.
        if (reason === timedOut && isUp()) {
          markDown(timedOut);
          redis.disconnect(true);
        }
        // No `cause`: ioredis errors contain the command, and with it keys, values and passwords.
        throw new StoreError(reason);
      }
    },
    isUp,
    async close() {
      const wasUp = isUp();
      state = 'closed';
      stopWaiting();
      // Redis answers QUIT after all earlier commands; the command timeout limits the wait.
      if (wasUp) await redis.quit().catch(() => {});
      redis.disconnect();
    },
  };

  function isUp(): boolean {
    return state === 'up';
  }
}

const timedOut = 'timed out';

/** Doubles from 50 ms up to 2 s; random, so that replicas do not reconnect all at once. */
function reconnectDelayMs(attempt: number): number {
  return Math.min(50 * 2 ** (attempt - 1), 2_000) * (0.5 + Math.random() / 2);
}

/** The code of a system error, or the first word of a Redis error. Other messages could contain an address. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined) return code;
  if (message.endsWith('Command timed out')) return timedOut;
  return /^(?:Ready check failed: )?([A-Z]{2,})\b/.exec(message)?.[1] ?? 'connection lost';
}
